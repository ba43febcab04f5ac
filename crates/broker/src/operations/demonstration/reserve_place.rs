//! Reserves a place to build in. The name comes from the operation, so a second run finds the same.

use super::Demonstration;
use crate::operations::prelude::*;

pub(super) struct ReservePlace;

impl Step<Demonstration> for ReservePlace {
    const NAME: &'static str = "Reserve_Place";

    async fn run(&self, cx: &mut Cx<'_, Demonstration>) -> StepResult {
        cx.data.place.get_or_insert_with(|| format!("place-{}", cx.root));
        done()
    }
}
