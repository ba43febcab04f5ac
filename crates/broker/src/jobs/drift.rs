//! Compares what is stored with what is there, and lists the differences. It repairs nothing.

use std::time::Duration;

use engine::StepError;
use store::broker::{Instance, InstanceFilter, Standing};

use super::{
    Job,
    cursor::{read_key, store_failed, write_key},
    cx::{Next, PageCx},
    hours,
    shoots::{self, ShootEntry},
};

/// How many instances are compared at once.
const PAGE: u32 = 200;
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
        if cx.memory.shoots.is_none() {
            cx.memory.shoots = Some(shoots::all(cx.env).await?);
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
        let page = store.list(&filter).await.map_err(|error| store_failed(&error))?;
        for row in &page.instances {
            if let Some(difference) = compare(cx, row) {
                cx.found(&row.id, difference);
            }
        }
        for id in &page.unreadable {
            cx.found(id, "the instance cannot be read");
        }
        Ok(page.next.map(|key| format!("{INSTANCES}{}", write_key(&key))).into())
    }
}

/// Shoots that no instance has.
async fn unowned_shoots(cx: &mut PageCx<'_>) -> Result<(), StepError> {
    let shoots = cx.memory.shoots.as_ref();
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

/// In what an instance differs from what is there. One that is being changed is left alone.
fn compare(cx: &PageCx<'_>, row: &Instance) -> Option<String> {
    let is_settled =
        row.standing == Standing::Succeeded && row.updated_at < cx.now - cx.env.settings.settled;
    let runtime = row.runtime_id.filter(|_| is_settled && row.provider != OWN)?;
    let shoots = cx.memory.shoots.as_ref()?;
    let Some(entry) = shoots.get(&row.shoot_name) else {
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
