//! Expires trial and free instances when their time is over: their clusters go, and do not come back.

use std::time::Duration;

use engine::StepError;
use store::broker::{InstanceFilter, PageKey};

use super::{
    Env, Job,
    cursor::{read_key, store_failed, write_key},
    cx::{ActionResult, Change, Next, PageCx},
    hours,
};
use crate::instances::Error;

/// How many instances are read at once.
const PAGE: u32 = 100;

pub(super) struct Expiry;

impl Job for Expiry {
    const NAME: &'static str = "expiry";
    const ABOUT: &'static str = "expires trial and free instances when their time is over";
    const EVERY: Duration = hours(1);

    fn obstacle(&self, env: &Env) -> Option<&'static str> {
        env.settings.expiry.is_empty().then_some("jobs.expiry.plans names no plan")
    }

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let periods = &cx.env.settings.expiry;
        let shortest = periods.values().min().copied().unwrap_or_default();
        let filter = InstanceFilter {
            plans: periods.keys().cloned().collect(),
            deleted: Some(false),
            expired: Some(false),
            after: read_key(cx.cursor)?,
            most: PAGE,
            ..InstanceFilter::default()
        };
        let broker = &cx.env.broker;
        let page =
            broker.parts().store.list(&filter).await.map_err(|error| store_failed(&error))?;
        cx.unreadable(&page.unreadable).await?;
        for row in &page.instances {
            let age = Duration::try_from(cx.now.duration_since(row.created_at)).unwrap_or_default();
            if age < shortest {
                // The oldest come first.
                return Ok(Next::End);
            }
            if periods.get(&row.plan_name).is_none_or(|period| age < *period) {
                continue;
            }
            let (caller, would) = (cx.caller(), format!("would expire: {}", row.plan_name));
            let action = Box::pin(async {
                match broker.expire(&caller, &row.id).await {
                    Ok(operation) => {
                        Ok(ActionResult::done(format!("expired, operation {operation}")))
                    }
                    Err(Error::Busy) => {
                        Ok(ActionResult::skipped("another operation has to end first"))
                    }
                    Err(error) => Err(error.into()),
                }
            });
            let change =
                Change { item: &row.id, action: "expire", instance: Some(&row.id), would: &would };
            cx.act(change, action).await?;
            if cx.is_full() {
                let key = PageKey { created_at: row.created_at, id: row.id.clone() };
                return Ok(Next::More(write_key(&key)));
            }
        }
        Ok(page.next.map(|key| write_key(&key)).into())
    }
}
