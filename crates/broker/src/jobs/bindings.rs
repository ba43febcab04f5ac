//! Removes bindings that have expired, that nobody came back for, and that could not be removed before.

use std::time::Duration;

use base::failure::chain;
use engine::StepError;

use super::{
    Job, MOST_ACTIONS,
    cx::{ActionError, ActionResult, Change, Next, PageCx},
};

/// How many bindings are read at once.
const PAGE: u32 = MOST_ACTIONS;
/// How many bindings a dry run counts.
const COUNTED: u32 = 20_000;

pub(super) struct BindingCleanUp;

impl Job for BindingCleanUp {
    const NAME: &'static str = "binding-cleanup";
    const ABOUT: &'static str = "removes bindings that have expired";
    const EVERY: Duration = Duration::from_mins(10);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let bindings = &cx.env.bindings;
        let most = if cx.dry_run { COUNTED + 1 } else { PAGE };
        let mut due = bindings.due(most).await.map_err(|error| {
            StepError::transient(base::Failure::new("store", "unavailable", chain(&error)))
        })?;
        if due.len() > COUNTED as usize {
            due.truncate(COUNTED as usize);
            cx.skip(
                "other bindings",
                format!("more than {COUNTED} are due, these were not counted"),
            );
        }
        for binding in &due {
            let item = format!("{}/{}", binding.instance, binding.binding);
            let action = Box::pin(async {
                match bindings.remove_due(binding).await {
                    Ok(true) => Ok(ActionResult::done("removed")),
                    Ok(false) => Ok(ActionResult::skipped("another process removes it")),
                    Err(error) => Err(ActionError::Failed(chain(&error))),
                }
            });
            let change = Change {
                item: &item,
                action: "unbind",
                instance: Some(&binding.instance),
                would: "would be removed",
            };
            cx.act(change, action).await?;
        }
        // Those that stay are not due again for a while, so that the list comes to its end.
        let more = !cx.dry_run && due.len() == PAGE as usize;
        Ok(if more { Next::More("due".into()) } else { Next::End })
    }
}
