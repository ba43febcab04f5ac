//! Asks for an inspection and waits until it is over.

use super::Demonstration;
use crate::operations::prelude::*;

pub(super) struct WaitForInspection;

impl Step<Demonstration> for WaitForInspection {
    const NAME: &'static str = "Wait_For_Inspection";
    const RETRY: Retry = Retry::every(secs(1)).waiting_for(secs(600)).then_skip();

    async fn run(&self, cx: &mut Cx<'_, Demonstration>) -> StepResult {
        let asked_at = *cx.data.inspection_asked_at.get_or_insert(cx.now);
        if cx.now < asked_at + cx.env.inspection {
            return waiting("the inspector looks at the work").into();
        }
        done()
    }
}
