//! Makes the agent forget its connection: what it has next is new.

use engine::{Cx, Retry, Step, StepResult, done};

use super::Reconnection;
use crate::operations::{on_runtime_error, runtime, shared::secs};

pub(super) struct ResetConnection;

impl Step<Reconnection> for ResetConnection {
    const NAME: &'static str = "Reset_Connection";
    const CALLS: &'static [&'static str] = &["gardener", "runtime"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, Reconnection>) -> StepResult {
        let runtime = runtime(cx).await?;
        match runtime.forget_connection().await {
            Ok(()) => done(),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}
