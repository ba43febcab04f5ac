//! Waits until the simulated parts have arrived.

use super::Demonstration;
use crate::operations::prelude::*;

pub(super) struct WaitForParts;

impl Step<Demonstration> for WaitForParts {
    const NAME: &'static str = "Wait_For_Parts";
    const RETRY: Retry = Retry::every(secs(1)).waiting_for(secs(600));

    async fn run(&self, cx: &mut Cx<'_, Demonstration>) -> StepResult {
        let ordered_at = *cx.data.parts_ordered_at.get_or_insert(cx.now);
        if cx.now < ordered_at + cx.env.delivery {
            return waiting("the parts are on their way").into();
        }
        done()
    }
}
