//! Removes the instances of subaccounts that were deleted in the platform.

use std::time::Duration;

use engine::StepError;
use store::broker::{Instance, InstanceFilter};

use super::{
    Env, Job,
    cursor::store_failed,
    cx::{Acted, Next, PageCx},
    hours,
};
use crate::instances::Deprovision;

/// How many instances of a subaccount are read at once.
const PAGE: u32 = 100;

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
        let page = events.deleted_page(cx.env.settings.edition, cx.cursor).await?;
        for subaccount in &page.subaccounts {
            for row in instances_of(cx.env, subaccount).await? {
                remove(cx, &row).await?;
            }
        }
        Ok(page.next.into())
    }
}

/// The instances of a subaccount that are not removed.
async fn instances_of(env: &Env, subaccount: &str) -> Result<Vec<Instance>, StepError> {
    let mut filter = InstanceFilter {
        subaccounts: vec![subaccount.to_owned()],
        deleted: Some(false),
        most: PAGE,
        ..InstanceFilter::default()
    };
    let mut all = Vec::new();
    loop {
        let page = env.broker.parts().store.list(&filter).await;
        let page = page.map_err(|error| store_failed(&error))?;
        all.extend(page.instances);
        match page.next {
            None => return Ok(all),
            next => filter.after = next,
        }
    }
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
        Ok(Acted::done(format!(
            "removed with subaccount {}, operation {operation}",
            row.subaccount
        )))
    });
    cx.act(&row.id, &format!("would be removed with subaccount {}", row.subaccount), action).await
}
