//! Lets operators and the named administrators into the cluster.

use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::operations::{OnRuntime, on_runtime_error, runtime};

pub(in crate::operations) struct CreateBindings;

impl<O: OnRuntime> Step<O> for CreateBindings {
    const NAME: &'static str = "Create_Bindings";
    const CALLS: &'static [&'static str] = &["gardener", "runtime"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let runtime = runtime(cx).await?;
        let settings = &cx.env.settings;
        if let Err(error) = runtime.ensure_operators(&settings.groups).await {
            return Err(on_runtime_error(cx, error));
        }
        if settings.bind_administrators {
            let people = &cx.input.document.configuration.administrators;
            if let Err(error) = runtime.set_administrators(people).await {
                return Err(on_runtime_error(cx, error));
            }
        }
        done()
    }
}
