//! Archives removed instances and deletes their operations; deletes archived instances and runs of jobs when their time is over.

use std::time::Duration;

use engine::{StepError, Storage, storage::Snapshot};
use jiff::Timestamp;
use store::{
    Moment,
    broker::{ArchivedInstance, EndedRemoval, PageKey},
    engine::Content,
};
use uuid::Uuid;

use super::{
    Env, Job,
    cursor::{read_operation, store_failed, write_key},
    cx::{ActionError, ActionResult, Change, Next, PageCx},
    hours, names,
    service::instance,
};
use crate::{instances::pairs::PROVISION, operations::deprovisioning};

/// How many archived instances, or runs of a job, are deleted at once.
const BATCH: u32 = 500;
/// How many details of runs are deleted at once.
const DETAILS: u32 = 2_000;
/// How many archived instances a dry run counts.
const COUNTED: u32 = 1_000_000;
/// The mail domain of internal users in the archive.
const INTERNAL: &str = "@sap.com";

pub(super) struct Archive;

impl Job for Archive {
    const NAME: &'static str = "archive";
    const ABOUT: &'static str = "archives removed instances, and deletes archived instances and runs of jobs after their time";
    const EVERY: Duration = hours(24);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let settings = cx.env.settings.archive;
        let store = &cx.env.broker.parts().store;
        let most = u32::from(settings.page.get());
        let (before, after) = (cx.now - settings.after, read_operation(cx.cursor)?);
        let removals = store.ended_removals(before, after, most).await;
        let removals = removals.map_err(|error| store_failed(&error))?;
        for removal in &removals {
            let action = Box::pin(archive(cx.env, removal, cx.now.into()));
            let change = Change {
                item: &removal.instance,
                action: "archive",
                instance: Some(&removal.instance),
                would: "would be archived",
            };
            cx.act(change, action).await?;
            if cx.is_full() {
                return Ok(behind(removal));
            }
        }
        if let Some(last) = removals.last().filter(|_| removals.len() == most as usize) {
            return Ok(behind(last));
        }
        if forget_archived(cx).await? {
            // Behind all removals that are old enough.
            let key = PageKey { created_at: before, id: Uuid::nil().to_string() };
            return Ok(Next::More(write_key(&key)));
        }
        if !cx.dry_run {
            forget_runs(cx).await?;
        }
        Ok(Next::End)
    }
}

/// The next page begins behind this removal.
fn behind(removal: &EndedRemoval) -> Next {
    let key = PageKey { created_at: removal.created_at, id: removal.operation.to_string() };
    Next::More(write_key(&key))
}

/// Deletes a batch of the archived instances that have been kept long enough. Whether there may be more of them.
async fn forget_archived(cx: &mut PageCx<'_>) -> Result<bool, StepError> {
    let before = cx.now - cx.env.settings.archive.keep;
    let store = &cx.env.broker.parts().store;
    let most = if cx.dry_run { COUNTED } else { BATCH };
    let old = store.count_archived(before, most).await.map_err(|error| store_failed(&error))?;
    if old == 0 {
        return Ok(false);
    }
    let mut gone = 0;
    let action = Box::pin(async {
        gone = store.forget_archived(before, BATCH).await?;
        Ok(ActionResult::done(format!("{gone} deleted")))
    });
    let item = format!("archived instances: {old}");
    let change =
        Change { item: &item, action: "forgetArchived", instance: None, would: "would be deleted" };
    cx.act(change, action).await?;
    Ok(gone == u64::from(BATCH))
}

/// Deletes runs of jobs that have been kept long enough, some at a time.
async fn forget_runs(cx: &PageCx<'_>) -> Result<(), StepError> {
    let before = cx.now - cx.env.settings.archive.keep_runs;
    let store = &cx.env.broker.parts().store;
    for job in names() {
        for dry_run in [false, true] {
            let runs = instance(job, dry_run);
            // A run may have very many of them: they go some at a time, before it.
            while store
                .forget_job_details(&runs, before, DETAILS)
                .await
                .map_err(|error| store_failed(&error))?
                == u64::from(DETAILS)
            {}
            let forgotten = store.forget_job_runs(&runs, before, BATCH).await;
            forgotten.map_err(|error| store_failed(&error))?;
        }
    }
    Ok(())
}

async fn archive(
    env: &Env,
    removal: &EndedRemoval,
    now: Moment,
) -> Result<ActionResult, ActionError> {
    let parts = env.broker.parts();
    let failed = |error: &dyn std::error::Error| ActionError::Failed(error.to_string());
    let read = parts.operations.of_instances(&[removal.instance.as_str()]).await?;
    let last = parts.operations.read(removal.operation).await.map_err(|error| failed(&error))?;
    let Some(last) = last else { return Ok(ActionResult::skipped("archived already")) };
    let of = |kind: &str| {
        read.iter().filter(|one| one.kind == kind).map(|one| one.id).collect::<Vec<_>>()
    };
    let removals = parts.operations.contents(&of(deprovisioning::KIND)).await?;
    let is_removal = |content: &&Content| {
        let input = serde_json::from_slice::<deprovisioning::Input>(&content.input);
        input.is_ok_and(|input| !input.temporary)
    };
    let removals: Vec<Uuid> = removals.iter().filter(is_removal).map(|one| one.operation).collect();
    let first = read.iter().find(|one| removals.contains(&one.id)).unwrap_or(&last);
    let provisioning = read.iter().find(|one| one.kind == PROVISION);
    let times = Times { provisioning, first, last: &last, now };
    let archived = archived(&times).map_err(|error| failed(&error))?;
    if parts.store.archive(&archived).await? {
        return Ok(ActionResult::done("archived"));
    }
    Ok(ActionResult::skipped("it is there again, or something of it runs"))
}

/// The operations whose times are kept.
struct Times<'a> {
    provisioning: Option<&'a Snapshot>,
    /// The first removal.
    first: &'a Snapshot,
    /// The last removal.
    last: &'a Snapshot,
    now: Moment,
}

/// The archive entry of an instance: as its last removal knew it, with the times of its operations.
fn archived(times: &Times<'_>) -> Result<ArchivedInstance, serde_json::Error> {
    let Times { provisioning, first, last, now } = *times;
    let deprovisioning::Input { order, .. } = serde_json::from_slice(&last.input)?;
    let deprovisioning::Data { details, .. } = serde_json::from_slice(&last.data)?;
    let region = order.resolved.cluster.as_ref().map(|cluster| cluster.region.clone());
    let at = |time: Option<Timestamp>| time.map(Moment::from);
    Ok(ArchivedInstance {
        instance: last.instance.clone(),
        global_account: order.context.globalaccount_id.clone(),
        subscription_global_account: order.paying_account().to_owned(),
        subaccount: order.context.subaccount_id.clone(),
        provider: order.resolved.provider_word().to_owned(),
        region: region.unwrap_or_default(),
        last_runtime_id: details.runtime_id,
        internal_user: order.context.user_id.contains(INTERNAL),
        plan_id: order.plan_id,
        plan_name: order.plan_name,
        platform_region: order.platform_region,
        shoot_name: order.shoot_name,
        provisioning_state: provisioning.map_or("", |one| one.state.as_str()).to_owned(),
        provisioning_started_at: at(provisioning.map(|one| one.created_at)),
        provisioning_finished_at: at(provisioning.and_then(|one| one.ended_at)),
        first_deprovisioning_started_at: first.created_at.into(),
        first_deprovisioning_finished_at: first.ended_at.unwrap_or(first.updated_at).into(),
        last_deprovisioning_finished_at: last.ended_at.unwrap_or(last.updated_at).into(),
        last_operation: last.id,
        archived_at: now,
    })
}
