//! Waits until the runtime's agent has connected; one that failed gets another token.

use base::Failure;
use clients::runtime::Connection;
use engine::{Cx, Retry, Step, StepError, StepResult, done, wait};

use super::{configure_agent::configure, secs};
use crate::operations::{OnRuntime, on_runtime_error, runtime};

pub(in crate::operations) struct WaitForAgent;

impl<O: OnRuntime> Step<O> for WaitForAgent {
    const NAME: &'static str = "Wait_For_Agent";
    const CALLS: &'static [&'static str] = &["gardener", "runtime", "director"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(5)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let runtime = runtime(cx).await?;
        let report = match runtime.agent().await {
            Ok(report) => report,
            Err(error) => return Err(on_runtime_error(cx, error)),
        };
        match report.connection() {
            Connection::Connected => done(),
            Connection::Missing => wait("the agent has not begun to connect"),
            Connection::Pending(state) => wait(format!("the agent is connecting: {state}")),
            Connection::Failed => {
                let patience = cx.env.settings.agent_patience;
                let had_time =
                    cx.data.agent_configured_at.is_none_or(|since| since + patience <= cx.now);
                if had_time {
                    configure(cx).await?;
                }
                let text = format!("the agent could not connect: {}", report.errors.join("; "));
                let failure = Failure::new("compass connection", "ConnectionFailed", text);
                Err(StepError::transient(failure))
            }
        }
    }
}
