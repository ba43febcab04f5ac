//! When the outside systems took work, by the ledger, and when they were done with it, by their objects.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context;
use jiff::Timestamp;
use serde_json::Value;
use tokio::task::AbortHandle;

use super::{Side, between, time};

/// How often the objects are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What is looked at: the system, its kind of object, and who does the work on it.
const WATCHED: [(&str, &str); 3] =
    [("gardener", "shoot"), ("reconciler", "cluster"), ("control-plane", "kyma")];

/// Watches until it is dropped.
pub(super) struct Jobs {
    side: Arc<Side>,
    /// The last line of the ledger before anything was ordered.
    after: u64,
    log: Arc<Mutex<Log>>,
    task: AbortHandle,
}

/// Observations of objects, by system and name.
#[derive(Default)]
struct Log {
    done_at: HashMap<(usize, String), Timestamp>,
    gone_at: HashMap<(usize, String), Timestamp>,
    /// The runtime and the Shoot of each instance.
    runtimes: HashMap<String, (String, String)>,
    /// The objects of the last observation, and its time.
    there: [BTreeMap<String, Timestamp>; 3],
}

/// When each piece of work began and ended.
pub(super) struct WorkTimes {
    log: Log,
    began: HashMap<Work, Timestamp>,
}

impl Jobs {
    pub(super) async fn watch(side: Arc<Side>) -> anyhow::Result<Self> {
        let page = side.landscape(&format!("ledger?limit=1&after={}", i64::MAX)).await?;
        let after = page["next"].as_u64().context("the ledger does not say where it ends")?;
        let log = Arc::new(Mutex::new(Log::default()));
        let task = tokio::spawn(look_on(side.clone(), log.clone())).abort_handle();
        Ok(Self { side, after, log, task })
    }

    /// The work that has ended until now.
    pub(super) async fn ended(self) -> anyhow::Result<WorkTimes> {
        self.task.abort();
        // What was removed last is seen to be gone by this look.
        look(&self.side, &self.log, self.side.clock.now() - LOOK).await;
        let (mut began, mut after) = (HashMap::new(), self.after);
        loop {
            let path = format!("ledger?phase=applied&limit=1000&after={after}");
            let page = self.side.landscape(&path).await?;
            for entry in page["entries"].as_array().into_iter().flatten() {
                if let Some((job, at)) = begun(entry)? {
                    began.entry(job).or_insert(at);
                }
            }
            if page["more"] != true {
                break;
            }
            after = page["next"].as_u64().context("the ledger does not say where it goes on")?;
        }
        Ok(WorkTimes { log: std::mem::take(&mut *lock(&self.log)), began })
    }
}

/// System, object, whether it is a removal.
type Work = (usize, String, bool);

/// The work that a line of the ledger begins, if it does.
fn begun(entry: &Value) -> anyhow::Result<Option<(Work, Timestamp)>> {
    let text = |field: &str| entry[field].as_str().unwrap_or_default();
    let (system, method, route) = (text("system"), text("method"), text("route"));
    let Some(place) = WATCHED.iter().position(|(watched, _)| *watched == system) else {
        return Ok(None);
    };
    let ours = match place {
        0 => route.contains("/shoots"),
        1 => route.contains("/clusters"),
        _ => route.contains("/kymas"),
    };
    if !ours || !matches!(method, "POST" | "DELETE") {
        return Ok(None);
    }
    let name = text("object").rsplit('/').next().unwrap_or_default().to_owned();
    Ok(Some(((place, name, method == "DELETE"), time(entry, "at")?)))
}

impl WorkTimes {
    /// How long the outside systems needed to make an instance.
    pub(super) fn making(&self, instance: &str) -> anyhow::Result<Duration> {
        let (runtime, shoot) = self.log.runtimes.get(instance).context("no runtime was seen")?;
        let took = |place: usize, name: &String| self.took(&self.log.done_at, place, name, false);
        let cluster = took(0, shoot).context("the cluster was not seen to be made")?;
        Ok(cluster + took(1, runtime).context("Kyma was not seen to be installed")?)
    }

    /// How long they needed to remove it. What was never there needed nothing.
    pub(super) fn removing(&self, instance: &str) -> anyhow::Result<Duration> {
        let (runtime, shoot) = self.log.runtimes.get(instance).context("no runtime was seen")?;
        let took = |place: usize, name: &String| self.took(&self.log.gone_at, place, name, true);
        let cluster = took(0, shoot).context("the cluster was not seen to be gone")?;
        Ok(cluster + took(1, runtime).unwrap_or_default() + took(2, runtime).unwrap_or_default())
    }

    fn took(
        &self,
        ended: &HashMap<(usize, String), Timestamp>,
        place: usize,
        name: &str,
        removal: bool,
    ) -> Option<Duration> {
        let began = self.began.get(&(place, name.to_owned(), removal))?;
        let ended = ended.get(&(place, name.to_owned()))?;
        Some(between(*began, *ended))
    }
}

/// Looks for ever. A look that fails is made up for by the next one.
async fn look_on(side: Arc<Side>, log: Arc<Mutex<Log>>) {
    let mut last = side.clock.now();
    loop {
        look(&side, &log, last).await;
        side.clock.sleep(LOOK).await;
        last = side.clock.now() - LOOK;
    }
}

/// Notes which objects there are, and which are done. What is new happened between the last look and this one.
async fn look(side: &Side, log: &Mutex<Log>, last: Timestamp) {
    for (place, (system, kind)) in WATCHED.iter().enumerate() {
        let path = format!("systems/{system}/objects?kind={kind}");
        let Ok(found) = side.landscape(&path).await else { continue };
        let now = side.clock.now();
        let at = last + between(last, now) / 2;
        lock(log).note(place, &found, at);
    }
}

impl Log {
    fn note(&mut self, place: usize, found: &Value, at: Timestamp) {
        let mut there = BTreeMap::new();
        for object in found["objects"].as_array().into_iter().flatten() {
            let name = object["id"].as_str().unwrap_or_default();
            let name = name.rsplit('/').next().unwrap_or_default().to_owned();
            let value = &object["value"];
            there.insert(name.clone(), at);
            let done = match place {
                0 => value["status"]["lastOperation"]["state"] == "Succeeded",
                1 => {
                    let text = |field: &str| value["metadata"][field].as_str().map(str::to_owned);
                    if let (Some(instance), Some(shoot)) = (text("instanceID"), text("shootName")) {
                        self.runtimes.insert(instance, (name.clone(), shoot));
                    }
                    value["status"] == "ready"
                }
                _ => false,
            };
            if done {
                self.done_at.entry((place, name)).or_insert(at);
            }
        }
        for name in self.there[place].keys().filter(|name| !there.contains_key(*name)) {
            self.gone_at.insert((place, name.clone()), at);
        }
        self.there[place] = there;
    }
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.task.abort();
    }
}
