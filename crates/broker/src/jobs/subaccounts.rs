//! Removes the instances of subaccounts that were deleted in the platform.
//!
//! What a reader would get wrong: a page of events may name thousands of instances. A step ends after some of them, and its cursor says
//! which subaccount of the page, and which of its instances, was the last.

use std::time::Duration;

use base::Failure;
use engine::StepError;
use serde::{Deserialize, Serialize};
use store::broker::{Instance, InstanceFilter, Page, PageKey};

use super::{
    Env, Job, MOST_ACTIONS,
    cursor::{read_key, store_failed, write_key},
    cx::{ActionResult, Change, Next, PageCx},
    hours,
};
use crate::instances::Deprovision;

/// How many instances of a subaccount are read at once.
const PAGE: u32 = MOST_ACTIONS;

pub(super) struct SubaccountCleanUp;

impl Job for SubaccountCleanUp {
    const NAME: &'static str = "subaccount-cleanup";
    const ABOUT: &'static str = "removes the instances of subaccounts that were deleted";
    const EVERY: Duration = hours(24);

    fn obstacle(&self, env: &Env) -> Option<&'static str> {
        env.events.is_none().then_some("systems.cis.events is not configured")
    }

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let Some(events) = &cx.env.events else { return Ok(Next::End) };
        let at = PageCursor::read(cx.cursor);
        let page = events.deleted_page(cx.env.settings.edition, at.page.as_deref()).await?;
        // Without the subaccount, whose event may have left the page, all of it is done again.
        let position =
            |subaccount: &String| page.subaccounts.iter().position(|it| it == subaccount);
        let begin = at.subaccount.as_ref().and_then(position);
        for (number, subaccount) in page.subaccounts.iter().enumerate().skip(begin.unwrap_or(0)) {
            let mut after = at.after.clone().filter(|_| begin == Some(number));
            loop {
                let found = instances_of(cx.env, subaccount, after.as_deref()).await?;
                cx.unreadable(&found.unreadable).await?;
                for row in &found.instances {
                    remove(cx, row).await?;
                    if cx.is_full() {
                        let key = PageKey { created_at: row.created_at, id: row.id.clone() };
                        let inside = PageCursor {
                            subaccount: Some(subaccount.clone()),
                            after: Some(write_key(&key)),
                            ..at
                        };
                        return Ok(Next::More(inside.written()?));
                    }
                }
                match found.next {
                    Some(key) => after = Some(write_key(&key)),
                    None => break,
                }
            }
        }
        let next = page.next.map(|page| at.followed_by(page)).transpose()?;
        Ok(next.map(|next| next.written()).transpose()?.into())
    }
}

/// Where a run stands: in a page of events, and in the instances of one of its subaccounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PageCursor {
    /// The page; none for the first one.
    page: Option<String>,
    /// The subaccount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subaccount: Option<String>,
    /// The last of its instances that was acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// A page that was read before: when it comes again, the pages go round in a circle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    /// How many pages have been read since that one.
    #[serde(default)]
    since_mark: u64,
    /// After how many of them another page is marked: twice as many each time, so that a circle of any length is noticed.
    #[serde(default)]
    until_mark: u64,
}

impl PageCursor {
    /// From its text. Runs that were begun by older programs have the page alone.
    fn read(cursor: Option<&str>) -> Self {
        let Some(cursor) = cursor else { return Self::default() };
        serde_json::from_str(cursor)
            .unwrap_or_else(|_| Self { page: Some(cursor.to_owned()), ..Self::default() })
    }

    /// Where the run stands before the next page.
    fn followed_by(&self, page: String) -> Result<Self, StepError> {
        if self.mark.as_ref() == Some(&page) {
            let text = "the pages of events go round in a circle";
            return Err(StepError::fatal(Failure::new("cis", "malformed", text)));
        }
        let since_mark = self.since_mark + 1;
        let (mark, since_mark, until_mark) = if since_mark >= self.until_mark {
            (Some(page.clone()), 0, self.until_mark.max(1) * 2)
        } else {
            (self.mark.clone(), since_mark, self.until_mark)
        };
        let page = Some(page);
        Ok(Self { page, subaccount: None, after: None, mark, since_mark, until_mark })
    }

    fn written(&self) -> Result<String, StepError> {
        serde_json::to_string(self).map_err(|error| StepError::internal(&error))
    }
}

/// Some instances of a subaccount that are not removed, behind a key.
async fn instances_of(env: &Env, subaccount: &str, after: Option<&str>) -> Result<Page, StepError> {
    let filter = InstanceFilter {
        subaccounts: vec![subaccount.to_owned()],
        deleted: Some(false),
        after: read_key(after)?,
        most: PAGE,
        ..InstanceFilter::default()
    };
    let page = env.broker.parts().store.list(&filter).await;
    page.map_err(|error| store_failed(&error))
}

async fn remove(cx: &mut PageCx<'_>, row: &Instance) -> Result<(), StepError> {
    let (broker, caller) = (&cx.env.broker, cx.caller());
    let request = Deprovision {
        instance_id: row.id.clone(),
        service_id: row.service_id.clone(),
        plan_id: row.plan_id.clone(),
        accepts_incomplete: true,
    };
    let action = Box::pin(async {
        let operation = broker.deprovision(&caller, request).await?;
        Ok(ActionResult::done(format!(
            "removed with subaccount {}, operation {operation}",
            row.subaccount
        )))
    });
    let change = Change {
        item: &row.id,
        action: "deprovision",
        instance: Some(&row.id),
        would: &format!("would be removed with subaccount {}", row.subaccount),
    };
    cx.act(change, action).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_so_is_that_of_an_older_program() {
        let inside = PageCursor {
            page: Some("p 2".into()),
            subaccount: Some("sa-1".into()),
            after: Some("2026-01-01T12:00:00Z i-1".into()),
            mark: Some("p 1".into()),
            since_mark: 1,
            until_mark: 2,
        };

        assert_eq!(PageCursor::read(Some(&inside.written().unwrap())), inside);
        assert_eq!(PageCursor::read(None), PageCursor::default());
        let old = PageCursor { page: Some("17".into()), ..PageCursor::default() };
        assert_eq!(PageCursor::read(Some("17")), old);
        assert_eq!(PageCursor::read(Some(r#"{"x": 1"#)).page.as_deref(), Some(r#"{"x": 1"#));
    }

    #[test]
    fn pages_that_go_round_in_a_circle_end_the_run_and_those_that_do_not_are_all_read() {
        for length in 1..40 {
            // Some pages lead to a circle of so many.
            let page = |number: usize| if number < 7 { number } else { 7 + (number - 7) % length };
            let mut at = PageCursor::default();
            let noticed =
                (0..1_000).find(|number| match at.followed_by(page(*number).to_string()) {
                    Ok(next) => {
                        at = next;
                        false
                    }
                    Err(error) => matches!(error, StepError::Fatal(_)),
                });
            assert!(noticed.is_some_and(|number| number < 200), "{length}: {noticed:?}");
        }
        let mut at = PageCursor::default();
        for number in 0..1_000 {
            at = at.followed_by(number.to_string()).unwrap();
        }
    }
}
