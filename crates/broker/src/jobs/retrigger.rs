//! Continues removals that left something: only the steps that were not completed run.
//!
//! What a reader would get wrong: an instance that was suspended, or whose removal failed, is not marked as removed. These instances
//! follow those of which something is left over.

use std::time::Duration;

use engine::StepError;
use store::broker::{Instance, InstanceFilter, Page, PageKey, Standing};

use super::{
    Job, MOST_ACTIONS,
    cursor::{read_key, store_failed, write_key},
    cx::{ActionError, ActionResult, Change, Next, PageCx},
    hours,
};
use crate::chores::retrigger::{RetriggerResult, ends_in_unfinished_removal, retrigger};

/// How many instances are read at once.
const PAGE: u32 = MOST_ACTIONS;
/// How many of those that are not marked as removed: few of them are candidates.
const PAGE_OF_OTHERS: u32 = 200;
/// Stands before the key of the last page of instances that are not marked as removed.
const OTHERS: &str = "others ";

pub(super) struct Retrigger;

impl Job for Retrigger {
    const NAME: &'static str = "deprovision-retrigger";
    const ABOUT: &'static str = "continues removals that left something";
    const EVERY: Duration = hours(24);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        match cx.cursor.and_then(|cursor| cursor.strip_prefix(OTHERS)) {
            Some(key) => others(cx, Some(key).filter(|key| !key.is_empty())).await,
            None => left_over(cx).await,
        }
    }
}

/// Instances that were removed, and of which something is left over.
async fn left_over(cx: &mut PageCx<'_>) -> Result<Next, StepError> {
    let after = read_key(cx.cursor)?;
    let filter =
        InstanceFilter { deleted: Some(true), after, most: PAGE, ..InstanceFilter::default() };
    let page = listed(cx, &filter).await?;
    cx.unreadable(&page.unreadable).await?;
    for row in &page.instances {
        continue_removal(cx, row).await?;
    }
    let next = page.next.map_or_else(|| OTHERS.to_owned(), |key| write_key(&key));
    Ok(Next::More(next))
}

/// Instances that stay, or whose removal failed, and whose newest operation is an unfinished removal.
async fn others(cx: &mut PageCx<'_>, after: Option<&str>) -> Result<Next, StepError> {
    let filter = InstanceFilter {
        deleted: Some(false),
        standings: Some(vec![Standing::Suspended, Standing::Failed]),
        after: read_key(after)?,
        most: PAGE_OF_OTHERS,
        ..InstanceFilter::default()
    };
    let mut page = listed(cx, &filter).await?;
    if !page.unreadable.is_empty() {
        // Where on the page they are is not known, so that it cannot be left half-way: it is made short enough to be done whole.
        page = listed(cx, &InstanceFilter { most: PAGE, ..filter }).await?;
    }
    cx.unreadable(&page.unreadable).await?;
    let parts = cx.env.broker.parts();
    for row in &page.instances {
        let unfinished = ends_in_unfinished_removal(&parts.operations, &parts.store, &row.id);
        if !unfinished.await.map_err(|error| StepError::internal(&error))? {
            continue;
        }
        continue_removal(cx, row).await?;
        if cx.is_full() && page.unreadable.is_empty() {
            let key = PageKey { created_at: row.created_at, id: row.id.clone() };
            return Ok(Next::More(cursor_behind(&key)));
        }
    }
    Ok(page.next.map(|key| cursor_behind(&key)).into())
}

fn cursor_behind(key: &PageKey) -> String {
    format!("{OTHERS}{}", write_key(key))
}

async fn listed(cx: &PageCx<'_>, filter: &InstanceFilter) -> Result<Page, StepError> {
    cx.env.broker.parts().store.list(filter).await.map_err(|error| store_failed(&error))
}

async fn continue_removal(cx: &mut PageCx<'_>, row: &Instance) -> Result<(), StepError> {
    let parts = cx.env.broker.parts();
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
    cx.act(change, action).await
}
