//! Gardener at work: one watch on all Shoots, one task for each of them, no polling.
//!
//! A client like any other: it needs an API server that has the kinds, not ours.

mod decide;
mod perform;
mod report;
mod schedule;
mod work;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use base::Clock;
use futures::StreamExt;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, ResourceExt,
    api::DynamicObject,
    core::ApiResource,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use tokio::sync::{Semaphore, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::decide::View;
use super::{
    Runtimes,
    settings::Settings,
    shoot::{Shoot, resource},
};
use crate::pace::{Pace, Speed};

/// The controller; runs until it is stopped or dropped.
pub struct Controller {
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// What all tasks share.
struct Shared {
    shoots: Api<DynamicObject>,
    seeds: Api<DynamicObject>,
    secrets: Api<Secret>,
    runtimes: Arc<dyn Runtimes>,
    settings: Settings,
    clock: Clock,
    pace: Pace,
    /// Bounds the writes that are under way.
    turns: Semaphore,
}

impl Controller {
    /// Starts it. Several of them do no harm, but more work.
    pub fn start(
        client: Client,
        runtimes: Arc<dyn Runtimes>,
        settings: Settings,
        clock: Clock,
        pace: Pace,
    ) -> Self {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let namespace = settings.namespace();
        let shared = Arc::new(Shared {
            shoots: Api::namespaced_with(client.clone(), &namespace, &resource()),
            seeds: Api::all_with(client.clone(), &seed_resource()),
            secrets: Api::namespaced(client, &namespace),
            turns: Semaphore::new(settings.writes.max(1)),
            runtimes,
            settings,
            clock,
            pace,
        });
        let watching = follow(shared, stop.clone(), tasks.clone());
        tasks.spawn(stop.clone().run_until_cancelled_owned(watching));
        Self { stop, tasks }
    }

    /// Stops it where it stands. Another one carries on from there.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Shared {
    fn at_once(&self) -> bool {
        self.pace.get() == Speed::MAX
    }

    fn view(&self) -> View<'_> {
        View { settings: &self.settings, at_once: self.at_once(), now: self.clock.now() }
    }
}

/// Hands what the watch says to the task of each Shoot.
async fn follow(shared: Arc<Shared>, stop: CancellationToken, tasks: TaskTracker) {
    let mut events =
        watcher(shared.shoots.clone(), watcher::Config::default()).default_backoff().boxed();
    let mut known: HashMap<String, watch::Sender<Arc<DynamicObject>>> = HashMap::new();
    let mut listed = HashSet::new();
    while let Some(event) = events.next().await {
        let object = match event {
            Ok(Event::Apply(object)) => object,
            Ok(Event::InitApply(object)) => {
                listed.insert(object.name_any());
                object
            }
            Ok(Event::Init) => {
                listed.clear();
                continue;
            }
            Ok(Event::InitDone) => {
                known.retain(|name, _| listed.contains(name));
                continue;
            }
            Ok(Event::Delete(object)) => {
                known.remove(&object.name_any());
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, "the watch on shoots is interrupted");
                continue;
            }
        };
        let (name, object) = (object.name_any(), Arc::new(slim(object)));
        match known.get(&name) {
            // A Shoot of the same name that was made anew is another one.
            Some(known) if known.borrow().metadata.uid == object.metadata.uid => {
                known.send_replace(object);
            }
            _ => {
                let (sender, seen) = watch::channel(object);
                known.insert(name, sender);
                let working = work::work(shared.clone(), seen);
                tasks.spawn(stop.clone().run_until_cancelled_owned(working));
            }
        }
    }
}

/// After how long the controller changes this Shoot next, at this speed; nothing if it leaves it alone.
pub(crate) fn next_move(
    object: &DynamicObject,
    settings: &Settings,
    pace: &Pace,
    now: Timestamp,
) -> Option<Duration> {
    let view = View { settings, at_once: pace.get() == Speed::MAX, now };
    let next = decide::decide(Shoot(object), view)?;
    Some(pace.scaled(next.after).max(next.least))
}

/// Without what the controller does not read.
fn slim(mut object: DynamicObject) -> DynamicObject {
    object.metadata.managed_fields = None;
    object
}

fn seed_resource() -> ApiResource {
    ApiResource { kind: "Seed".to_owned(), plural: "seeds".to_owned(), ..resource() }
}
