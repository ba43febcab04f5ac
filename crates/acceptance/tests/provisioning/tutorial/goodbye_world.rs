//! Takes the greeting back.

use std::time::Duration;

use broker::operations::deprovisioning::{Deprovisioning, calling};
use engine::{Cx, Retry, Step, StepResult};

use super::{greetings::Greetings, hello_world::KEPT_AS};

pub(super) struct GoodbyeWorld {
    pub(super) greetings: Greetings,
}

impl Step<Deprovisioning> for GoodbyeWorld {
    const NAME: &'static str = "Goodbye_World";
    const RETRY: Retry = Retry::every(Duration::from_secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        // On the list of what is left, until it is gone: the instance's row is kept as long.
        cx.data.left.insert(Self::NAME.into());
        // Asked for even if no greeting was noted: the answer that had it may have been lost.
        self.greetings.delete(cx.instance).await.map_err(calling)?;
        cx.data.details.others.remove(KEPT_AS);
        cx.data.gone(&[Self::NAME])
    }
}
