//! Takes the operation out of `pending`.

use super::Demonstration;
use crate::operations::prelude::*;

pub(super) struct Starting;

impl Step<Demonstration> for Starting {
    const NAME: &'static str = "Starting";

    async fn run(&self, cx: &mut Cx<'_, Demonstration>) -> StepResult {
        tracing::debug!(operation.id = %cx.operation, ordered_by = cx.input.ordered_by, "a demonstration starts");
        done()
    }
}
