//! Tells the Director that the runtime is connected.

use clients::director::{Change, Condition};
use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::operations::{OnRuntime, as_step_error};

pub(in crate::operations) struct MarkConnected;

impl<O: OnRuntime> Step<O> for MarkConnected {
    const NAME: &'static str = "Mark_Connected";
    const CALLS: &'static [&'static str] = &["director"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let target = &cx.input.target;
        let change = Change { condition: Some(Condition::Connected), ..Change::default() };
        let id = target.runtime.to_string();
        cx.env
            .director
            .update(target.directors_tenant(), &id, &change)
            .await
            .map_err(as_step_error)?;
        done()
    }
}
