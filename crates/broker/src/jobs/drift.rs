//! Compares what is stored with what is there, and lists the differences. It repairs nothing.
//!
//! What a reader would get wrong: a run may take hours, because looks into runtimes are paced. The Shoots are read again meanwhile, and an
//! instance that was changed shortly before they were read, or later, is not compared with them.

use std::{collections::HashMap, time::Duration};

use base::{Clock, failure::chain};
use clients::btp::ManagerState;
use engine::StepError;
use jiff::Timestamp;
use serde_json::Value;
use store::broker::{Instance, InstanceFilter, PageKey, Standing};
use uuid::Uuid;

use super::{
    Job,
    cursor::{read_key, store_failed, write_key},
    cx::{Next, PageCx},
    hours,
    report::Outcome,
    shoots::{self, ShootEntry, ShootReading},
};
use crate::{bindings::Bindings, operations::deprovisioning, runtimes::configs};

/// How many instances are read at once.
const PAGE: u32 = 200;
/// Of how many of them the ordered clusters are read at once.
const CLUSTERS: usize = 20;
/// Into how many runtimes a page looks. With their limit they end before the step's.
const LOOKS: u32 = 10;
/// How long a look into a runtime may take.
const LOOK_LIMIT: Duration = Duration::from_secs(45);
/// The BTP operator's Secret, as the report names it.
const SECRET: &str = "the Secret kyma-system/sap-btp-manager";
/// The provider of clusters that customers have brought along: they are in no garden of ours.
const OWN: &str = "custom";
/// Stands before the key of the last page of instances; pages of instances follow the Shoots.
const INSTANCES: &str = "instances ";

pub(super) struct Drift;

impl Job for Drift {
    const NAME: &'static str = "drift";
    const ABOUT: &'static str = "lists where stored and real state differ; repairs nothing";
    const EVERY: Duration = hours(24);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let settled = cx.env.settings.settled;
        let reading = cx.memory.shoots.as_ref();
        if reading.is_none_or(|reading| !reading.is_current(cx.now, settled)) {
            let shoots = shoots::all(cx.env).await?;
            cx.memory.shoots = Some(ShootReading { read_at: cx.now, shoots });
        }
        let Some(cursor) = cx.cursor else {
            unowned_shoots(cx).await?;
            return Ok(Next::More(INSTANCES.into()));
        };
        let key = cursor.strip_prefix(INSTANCES).filter(|key| !key.is_empty());
        let filter = InstanceFilter {
            after: read_key(key)?,
            deleted: Some(false),
            most: PAGE,
            ..InstanceFilter::default()
        };
        let store = &cx.env.broker.parts().store;
        let mut page = store.list(&filter).await.map_err(|error| store_failed(&error))?;
        if !page.unreadable.is_empty() {
            // Where on the page they are is not known, so that it cannot be left half-way: it is made short enough to be done whole.
            let filter = InstanceFilter { most: LOOKS, ..filter };
            page = store.list(&filter).await.map_err(|error| store_failed(&error))?;
        }
        for id in &page.unreadable {
            cx.found(id, "the instance cannot be read");
        }
        for rows in page.instances.chunks(CLUSTERS) {
            let ordered = ordered_clusters(cx, rows).await?;
            for row in rows {
                if !is_failed_removal(cx, row).await? {
                    let reading = cx.memory.shoots.as_ref();
                    match reading.and_then(|reading| compare(reading, settled, row)) {
                        Some(difference) => cx.found(&row.id, difference),
                        None => {
                            compare_cluster(cx, row, &ordered);
                            look_inside(cx, row).await;
                        }
                    }
                }
                let behind = || PageKey { created_at: row.created_at, id: row.id.clone() };
                if cx.acted >= LOOKS && page.unreadable.is_empty() {
                    return Ok(Next::More(cursor_behind(&behind())));
                }
            }
        }
        Ok(page.next.map(|key| cursor_behind(&key)).into())
    }
}

fn cursor_behind(key: &PageKey) -> String {
    format!("{INSTANCES}{}", write_key(key))
}

/// Shoots that no instance has.
async fn unowned_shoots(cx: &mut PageCx<'_>) -> Result<(), StepError> {
    let shoots = cx.memory.shoots.as_ref().map(|reading| &reading.shoots);
    let is_settled = |entry: &ShootEntry| {
        let at_latest = cx.now - cx.env.settings.settled;
        !entry.is_going && entry.created_at.is_some_and(|at| at < at_latest)
    };
    let settled: Vec<_> =
        shoots.into_iter().flatten().filter(|(_, entry)| is_settled(entry)).collect();
    for name in shoots::without_instance(cx.env, &settled, usize::MAX).await? {
        cx.found(&name, "Shoot without an instance");
    }
    Ok(())
}

/// Whether the removal of an instance has failed: its Shoot may be there or not. The job that continues removals has it.
async fn is_failed_removal(cx: &PageCx<'_>, row: &Instance) -> Result<bool, StepError> {
    if row.standing != Standing::Failed || row.runtime_id.is_none() {
        return Ok(false);
    }
    let parts = cx.env.broker.parts();
    let last = parts.store.last_operation(&row.id, None).await;
    let Some(last) = last.map_err(|error| store_failed(&error))? else { return Ok(false) };
    let last = parts.operations.of_ids(&[last]).await.map_err(|error| store_failed(&error))?;
    Ok(last.first().is_some_and(|last| last.kind == deprovisioning::KIND))
}

/// Whether an instance has been as it is since before `at_latest`.
fn is_settled(row: &Instance, at_latest: Timestamp) -> bool {
    row.updated_at < at_latest && row.provider != OWN
}

/// The runtime of an instance that should have one. An instance that is being changed is left alone.
fn settled_runtime(row: &Instance, at_latest: Timestamp) -> Option<Uuid> {
    let has_runtime =
        matches!(row.standing, Standing::Succeeded | Standing::Error | Standing::Failed);
    row.runtime_id.filter(|_| has_runtime && is_settled(row, at_latest))
}

/// In what an instance differs from what was in the garden.
fn compare(reading: &ShootReading, settled: Duration, row: &Instance) -> Option<String> {
    let at_latest = reading.read_at - settled;
    if row.standing == Standing::Suspended {
        let is_there = is_settled(row, at_latest) && reading.shoots.contains_key(&row.shoot_name);
        return is_there.then(|| format!("suspended, and its Shoot {} is there", row.shoot_name));
    }
    let runtime = settled_runtime(row, at_latest)?;
    let Some(entry) = reading.shoots.get(&row.shoot_name) else {
        return Some(format!("instance without a Shoot: {} is not in the garden", row.shoot_name));
    };
    let is_same = |known: &str| known.eq_ignore_ascii_case(&runtime.to_string());
    match &entry.runtime {
        _ if entry.is_going => Some(format!("Shoot {} is being deleted", row.shoot_name)),
        Some(known) if !is_same(known) => {
            Some(format!("Shoot {} belongs to runtime {known}, not {runtime}", row.shoot_name))
        }
        _ => None,
    }
}

/// The clusters that the provisioner was last sent for these instances, and when.
async fn ordered_clusters(
    cx: &PageCx<'_>,
    rows: &[Instance],
) -> Result<HashMap<Uuid, (Timestamp, Value)>, StepError> {
    let runtimes: Vec<Uuid> = rows.iter().filter_map(|row| row.runtime_id).collect();
    let states = cx.env.broker.parts().store.latest_runtime_states(&runtimes, "cluster-config");
    let states = states.await.map_err(|error| store_failed(&error))?;
    let cluster = |state| {
        let (runtime, cluster) = configs::cluster(state)?;
        Some((runtime, (state.created_at, cluster)))
    };
    Ok(states.iter().filter_map(cluster).collect())
}

/// Notes in what the Shoot of an instance differs from the order.
fn compare_cluster(
    cx: &mut PageCx<'_>,
    row: &Instance,
    ordered: &HashMap<Uuid, (Timestamp, Value)>,
) {
    let Some(reading) = cx.memory.shoots.as_ref() else { return };
    let at_latest = reading.read_at - cx.env.settings.settled;
    // What was sent last is stored when it succeeds: after a change that failed, the Shoot may have what that one sent, or not.
    let runtime = settled_runtime(row, at_latest).filter(|_| row.standing == Standing::Succeeded);
    let ordered = runtime.and_then(|runtime| ordered.get(&runtime));
    let Some((_, ordered)) = ordered.filter(|(sent_at, _)| *sent_at < at_latest) else { return };
    let Some(entry) = reading.shoots.get(&row.shoot_name) else { return };
    let differences = entry.spec.differences(ordered);
    if !differences.is_empty() {
        let text = format!("Shoot {} differs: {}", row.shoot_name, differences.join("; "));
        cx.found(&row.id, text);
    }
}

/// Notes in what the BTP operator's Secret in a runtime differs from the order. A runtime that does not answer is listed, and looked into
/// by the next run.
async fn look_inside(cx: &mut PageCx<'_>, row: &Instance) {
    if row.standing == Standing::Failed {
        // It was never finished: nothing may have been written into it yet.
        return;
    }
    let runtime = settled_runtime(row, cx.now - cx.env.settings.settled);
    let Some(wanted) = runtime.and_then(|_| Bindings::operator_secret(row)) else { return };
    // The rate counts these looks.
    cx.acted += 1;
    let compared = cx.env.bindings.compare_operator_secret(row, &wanted);
    match within_limit(&cx.env.broker.parts().clock, compared).await {
        Some(Ok(ManagerState::Same | ManagerState::LeftAlone)) => {}
        Some(Ok(ManagerState::Missing)) => {
            cx.found(&row.id, format!("{SECRET} is missing in the runtime"));
        }
        Some(Ok(ManagerState::Different(keys))) => {
            cx.found(
                &row.id,
                format!("{SECRET} has other values than the order: {}", keys.join(", ")),
            );
        }
        Some(Err(error)) => {
            let text = format!("{SECRET} cannot be read: {}", chain(&error));
            cx.report.note(&row.id, Outcome::Failed, text);
        }
        None => {
            let text = format!("{SECRET} cannot be read: no answer within {LOOK_LIMIT:?}");
            cx.report.note(&row.id, Outcome::Failed, text);
        }
    }
}

/// The result of a look; none when it takes too long.
async fn within_limit<T>(clock: &Clock, look: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        result = look => Some(result),
        () = clock.sleep(LOOK_LIMIT) => None,
    }
}

#[cfg(test)]
mod tests;
