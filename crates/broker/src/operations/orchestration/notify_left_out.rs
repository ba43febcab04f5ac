//! Tells customers whose runtimes were announced and then left out that nothing is done to them.

use super::{Orchestrating, announce_end, orchestration, stored};
use crate::{
    operations::prelude::*,
    orchestrations::{left_out, parameters},
};

pub(super) struct NotifyLeftOut;

impl Step<Orchestrating> for NotifyLeftOut {
    const NAME: &'static str = "Notify_Left_Out";
    const RETRY: Retry = Retry::every(secs(5)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Orchestrating>) -> StepResult {
        let row = orchestration(cx).await?;
        // It was canceled just now: the whole announcement is taken back.
        if row.state == "canceling" {
            cx.data.canceled = true;
            return done();
        }
        let asked = parameters(&row).map_err(|error| stored(&error))?;
        let Some(spc) = cx.env.spc.as_ref().filter(|_| cx.env.notifies(&asked)) else {
            return done();
        };
        let event = left_out(cx.env.store(), &row).await.map_err(|error| stored(&error))?;
        let Some(event) = event else { return done() };
        announce_end(cx, spc.update(&event)).await
    }
}
