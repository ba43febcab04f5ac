//! Hands the work over.

use super::Demonstration;
use crate::operations::prelude::*;

pub(super) struct HandOver;

impl Step<Demonstration> for HandOver {
    const NAME: &'static str = "Hand_Over";

    async fn run(&self, cx: &mut Cx<'_, Demonstration>) -> StepResult {
        cx.data.handed_over = true;
        done()
    }
}
