//! The Shoots of the garden, as far as jobs need them, and which of them no instance has.
//!
//! What a reader would get wrong: only a few words of each Shoot are kept. The list lives in the memory of a run; another replica reads
//! it again.

use std::collections::BTreeMap;

use clients::gardener::{RUNTIME_ANNOTATION, Shoot};
use engine::StepError;
use jiff::Timestamp;
use store::broker::InstanceFilter;
use uuid::Uuid;

use super::{Env, cursor::store_failed};

/// How many instances are looked for at once.
const CHUNK: usize = 100;
/// The label with the global account.
const ACCOUNT: &str = "account";

/// The Shoots by their names.
pub(super) type ShootList = BTreeMap<String, ShootEntry>;

/// What is known of a Shoot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShootEntry {
    pub(super) uid: Option<String>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) runtime: Option<String>,
    pub(super) account: Option<String>,
    pub(super) is_going: bool,
}

impl ShootEntry {
    fn of(shoot: &Shoot) -> Self {
        let labels = shoot.metadata.labels.as_ref();
        Self {
            uid: shoot.metadata.uid.clone(),
            created_at: shoot.metadata.creation_timestamp.as_ref().map(|at| at.0),
            runtime: shoot.annotation(RUNTIME_ANNOTATION).map(str::to_owned),
            account: labels.and_then(|labels| labels.get(ACCOUNT)).cloned(),
            is_going: shoot.is_going(),
        }
    }
}

/// The Shoots with matching labels.
pub(super) async fn read(env: &Env, selector: &str) -> Result<ShootList, StepError> {
    let mut list = ShootList::new();
    let take = |shoot: Shoot| {
        list.insert(shoot.name().to_owned(), ShootEntry::of(&shoot));
    };
    env.gardener.each_shoot(selector, take).await?;
    Ok(list)
}

/// The names of those Shoots that no instance has, neither by name nor by runtime. Instances of which something is left count.
pub(super) async fn without_instance(
    env: &Env,
    shoots: &[(&String, &ShootEntry)],
) -> Result<Vec<String>, StepError> {
    let store = &env.broker.parts().store;
    let mut without = Vec::new();
    for chunk in shoots.chunks(CHUNK) {
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
