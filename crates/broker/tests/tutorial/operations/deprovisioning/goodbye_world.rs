//! Takes the greeting back.

use super::{Deprovisioning, calling};
use crate::operations::prelude::*;

pub(super) struct GoodbyeWorld;

impl Step<Deprovisioning> for GoodbyeWorld {
    const NAME: &'static str = "Goodbye_World";
    const RETRY: Retry = Retry::every(secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let env = cx.env;
        let Some(greetings) = &env.greetings else { return cx.data.gone(&[Self::NAME]) };
        // Asked for even if no greeting was noted: the answer that had it may have been lost.
        greetings.delete(cx.instance).await.map_err(calling)?;
        cx.data.details.hello_world = None;
        cx.data.gone(&[Self::NAME])
    }
}
