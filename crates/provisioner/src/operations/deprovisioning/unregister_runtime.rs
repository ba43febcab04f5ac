//! Takes the runtime out of the Director.

use engine::{Cx, Retry, Step, StepResult, done};

use crate::operations::{OnRuntime, as_step_error, shared::secs};

pub(super) struct UnregisterRuntime;

impl<O: OnRuntime> Step<O> for UnregisterRuntime {
    const NAME: &'static str = "Unregister_Runtime";
    const CALLS: &'static [&'static str] = &["director"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let target = &cx.input.target;
        let id = target.runtime.to_string();
        cx.env.director.unregister(target.directors_tenant(), &id).await.map_err(as_step_error)?;
        done()
    }
}
