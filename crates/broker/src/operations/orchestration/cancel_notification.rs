//! Takes the announcement of an orchestration back that was canceled.

use super::{Orchestrating, announce_end, orchestration, stored};
use crate::{operations::prelude::*, orchestrations::parameters};

pub(super) struct CancelNotification;

impl Step<Orchestrating> for CancelNotification {
    const NAME: &'static str = "Cancel_Notification";
    const RETRY: Retry = Retry::every(secs(5)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        // A retry has brought another driver, which comes behind this one and ends the orchestration.
        if row.driver != cx.operation {
            return done();
        }
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        if let Some(spc) = cx.env.spc.as_ref().filter(|_| cx.env.notifies(&asked)) {
            return announce_end(cx, spc.cancel(&row.id.to_string())).await;
        }
        done()
    }
}
