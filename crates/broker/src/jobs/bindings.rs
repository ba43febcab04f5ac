//! Removes bindings that have expired, that nobody came back for, and that could not be removed before.

use std::time::Duration;

use base::failure::chain;
use engine::StepError;

use super::{
    Job,
    cx::{Acted, Failed, Next, PageCx},
};

/// How many bindings are read at once.
const PAGE: u32 = 25;
/// How many bindings a dry run lists.
const LISTED: u32 = 500;

pub(super) struct BindingCleanUp;

impl Job for BindingCleanUp {
    const NAME: &'static str = "binding-cleanup";
    const ABOUT: &'static str = "removes bindings that have expired";
    const EVERY: Duration = Duration::from_mins(10);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let bindings = &cx.env.bindings;
        let most = if cx.dry_run { LISTED } else { PAGE };
        let due = bindings.due(most).await.map_err(|error| {
            StepError::transient(base::Failure::new("store", "unavailable", chain(&error)))
        })?;
        for binding in &due {
            let item = format!("{}/{}", binding.instance, binding.binding);
            let action = Box::pin(async {
                match bindings.remove_due(binding).await {
                    Ok(true) => Ok(Acted::done("removed")),
                    Ok(false) => Ok(Acted::skipped("somebody else removes it")),
                    Err(error) => Err(Failed::Told(chain(&error))),
                }
            });
            cx.act(&item, "would be removed", action).await?;
        }
        // Those that stay are not due again for a while, so that the list comes to its end.
        let more = !cx.dry_run && due.len() == PAGE as usize;
        Ok(if more { Next::More("due".into()) } else { Next::End })
    }
}
