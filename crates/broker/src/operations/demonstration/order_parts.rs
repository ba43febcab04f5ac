//! Orders the parts, once.

use super::Demonstration;
use crate::operations::prelude::*;

pub(super) struct OrderParts;

impl Step<Demonstration> for OrderParts {
    const NAME: &'static str = "Order_Parts";

    async fn run(&self, cx: &mut Cx<'_, Demonstration>) -> StepResult {
        cx.data.parts_ordered_at.get_or_insert(cx.now);
        done()
    }
}
