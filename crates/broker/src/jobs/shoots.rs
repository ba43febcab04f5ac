//! The Shoots of the garden, as far as jobs need them, and which of them no instance has.
//!
//! What a reader would get wrong: only a few words of each Shoot are kept. The list lives in the memory of a run; another replica reads
//! it again.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use clients::gardener::{ACCOUNT_LABEL, RUNTIME_ANNOTATION, Shoot};
use engine::StepError;
use jiff::Timestamp;
use store::broker::InstanceFilter;
use uuid::Uuid;

use super::{
    Env,
    cluster_spec::{ClusterSpec, SharedSpecs},
    cursor::store_failed,
};

/// How many instances are looked for at once.
const CHUNK: usize = 100;

/// The Shoots by their names.
pub(super) type ShootList = BTreeMap<String, ShootEntry>;

/// The Shoots as they were when they were read.
pub(super) struct ShootReading {
    /// Not later than the reading began.
    pub(super) read_at: Timestamp,
    pub(super) shoots: ShootList,
}

impl ShootReading {
    /// Whether it can still be compared with what has been as it is for `settled`.
    pub(super) fn is_current(&self, now: Timestamp, settled: Duration) -> bool {
        self.read_at >= now - settled / 2
    }
}

/// A Shoot as the job sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShootEntry {
    pub(super) created_at: Option<Timestamp>,
    pub(super) runtime: Option<Box<str>>,
    pub(super) is_going: bool,
    /// The fields that orders have too.
    pub(super) spec: Arc<ClusterSpec>,
    /// Only where Shoots are to be removed.
    pub(super) removal: Option<Box<Removal>>,
}

/// The data for the removal of a Shoot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Removal {
    pub(super) uid: Option<String>,
    pub(super) account: Option<String>,
}

impl ShootEntry {
    fn of(shoot: &Shoot, specs: &mut SharedSpecs) -> Self {
        Self {
            created_at: shoot.metadata.creation_timestamp.as_ref().map(|at| at.0),
            runtime: shoot.annotation(RUNTIME_ANNOTATION).map(Box::from),
            is_going: shoot.is_going(),
            spec: specs.share(ClusterSpec::of(shoot)),
            removal: None,
        }
    }
}

impl Removal {
    fn of(shoot: &Shoot) -> Self {
        let account = shoot.label(ACCOUNT_LABEL).map(str::to_owned);
        Self { uid: shoot.metadata.uid.clone(), account }
    }
}

/// All Shoots.
pub(super) async fn all(env: &Env) -> Result<ShootList, StepError> {
    read(env, "", |_| None).await
}

/// The Shoots with matching labels, with what is needed to remove them.
pub(super) async fn removable(env: &Env, selector: &str) -> Result<ShootList, StepError> {
    read(env, selector, |shoot| Some(Box::new(Removal::of(shoot)))).await
}

async fn read(
    env: &Env,
    selector: &str,
    removal: fn(&Shoot) -> Option<Box<Removal>>,
) -> Result<ShootList, StepError> {
    let (mut list, mut specs) = (ShootList::new(), SharedSpecs::default());
    let take = |shoot: Shoot| {
        let entry = ShootEntry { removal: removal(&shoot), ..ShootEntry::of(&shoot, &mut specs) };
        list.insert(shoot.name().to_owned(), entry);
    };
    env.gardener.each_shoot(selector, take).await?;
    Ok(list)
}

/// The first names of those Shoots that no instance has, neither by name nor by runtime: at least `most` of them, if there are so many.
/// Instances of which something is left count.
pub(super) async fn without_instance(
    env: &Env,
    shoots: &[(&String, &ShootEntry)],
    most: usize,
) -> Result<Vec<String>, StepError> {
    let store = &env.broker.parts().store;
    let mut without = Vec::new();
    for chunk in shoots.chunks(CHUNK) {
        if without.len() >= most {
            break;
        }
        let names: Vec<String> = chunk.iter().map(|(name, _)| (*name).clone()).collect();
        let runtime = |entry: &ShootEntry| entry.runtime.as_deref()?.parse::<Uuid>().ok();
        let runtimes: Vec<Uuid> = chunk.iter().filter_map(|(_, entry)| runtime(entry)).collect();
        let most = u32::MAX;
        let by_name = InstanceFilter { shoots: names, most, ..InstanceFilter::default() };
        let by_name = store.list(&by_name).await.map_err(|error| store_failed(&error))?;
        let mut known = by_name.instances;
        if !runtimes.is_empty() {
            let by_runtime = InstanceFilter { runtimes, most, ..InstanceFilter::default() };
            let more = store.list(&by_runtime).await.map_err(|error| store_failed(&error))?;
            if !more.unreadable.is_empty() {
                return Err(unreadable(&more.unreadable));
            }
            known.extend(more.instances);
        }
        if !by_name.unreadable.is_empty() {
            return Err(unreadable(&by_name.unreadable));
        }
        for (name, entry) in chunk {
            let has = known.iter().any(|row| {
                row.shoot_name == **name
                    || (row.runtime_id.is_some() && row.runtime_id == runtime(entry))
            });
            if !has {
                without.push((*name).clone());
            }
        }
    }
    Ok(without)
}

/// An instance that cannot be read may be that of any Shoot.
fn unreadable(ids: &[String]) -> StepError {
    let text = format!("instances cannot be read: {}", ids.join(", "));
    StepError::transient(base::Failure::new("store", "unreadable", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_shoots_take_less_than_half_of_what_a_job_may_have() {
        // A name of at most 32 bytes and a runtime, and the room that a tree leaves free.
        let inline = size_of::<String>() + size_of::<ShootEntry>();

        assert!((inline * 2 + 32 + 48) * 100_000 < 32 << 20, "{inline} bytes");
    }
}
