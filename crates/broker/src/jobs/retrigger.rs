//! Continues removals that left something: only the steps that were not completed run.

use std::time::Duration;

use engine::StepError;
use store::broker::InstanceFilter;

use super::{
    Job, MOST_ACTIONS,
    cursor::{read_key, store_failed, write_key},
    cx::{ActionError, ActionResult, Change, Next, PageCx},
    hours,
};
use crate::chores::retrigger::{RetriggerResult, retrigger};

/// How many instances are read at once.
const PAGE: u32 = MOST_ACTIONS;

pub(super) struct Retrigger;

impl Job for Retrigger {
    const NAME: &'static str = "deprovision-retrigger";
    const ABOUT: &'static str = "continues removals that left something";
    const EVERY: Duration = hours(24);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let after = read_key(cx.cursor)?;
        let filter =
            InstanceFilter { deleted: Some(true), after, most: PAGE, ..InstanceFilter::default() };
        let parts = cx.env.broker.parts();
        let page = parts.store.list(&filter).await.map_err(|error| store_failed(&error))?;
        cx.unreadable(&page.unreadable);
        for row in &page.instances {
            let action = Box::pin(async {
                let again = retrigger(&parts.operations, &parts.store, &row.id).await;
                match again.map_err(|error| ActionError::Failed(base::failure::chain(&error)))? {
                    RetriggerResult::Begun(id) => {
                        Ok(ActionResult::done(format!("continued, operation {id}")))
                    }
                    RetriggerResult::Running(id) => {
                        Ok(ActionResult::skipped(format!("operation {id} runs")))
                    }
                    RetriggerResult::Blocked(id) => {
                        Ok(ActionResult::skipped(format!("operation {id} has to end first")))
                    }
                    RetriggerResult::Nothing => Ok(ActionResult::skipped("nothing is left")),
                }
            });
            let change = Change {
                item: &row.id,
                action: "retrigger",
                instance: Some(&row.id),
                would: "would continue the removal",
            };
            cx.act(change, action).await?;
        }
        Ok(page.next.map(|key| write_key(&key)).into())
    }
}
