//! Controllers inside of runtimes: the agent that connects them to the Director, the Kyma installer, the BTP operator.
//!
//! All are clients of any Kubernetes API: all they know is in the objects, so they carry on wherever
//! they were killed. What a reader would get wrong: nothing is polled and nothing is watched by them.
//! They are woken ([`Wakes`]): the landscape's own clusters do it with every write that matters,
//! for other API servers [`Controllers::follow`] does.

mod agent;
mod btp;
mod definitions;
mod follow;
mod installer;
mod kinds;
mod queue;
pub(crate) mod releases;
mod scenario;
mod wakes;
mod workload;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::Clock;
use futures::future::BoxFuture;
use kube::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::pace::Pace;
use agent::Agent;
use installer::Installer;

pub(crate) use btp::{BINDINGS, INSTANCES};
pub use definitions::definitions;
#[cfg(any(test, feature = "testing"))]
pub(crate) use kinds::AGENT;
pub(crate) use kinds::{CONNECTION, CONNECTIONS, INSTALLATION, INSTALLATIONS, catalog};
pub(crate) use scenario::{ACTORS, OBJECT as SCENARIO};
pub(crate) use wakes::WakeReceiver;
pub use wakes::{Actor, Wakes};
pub(crate) use workload::deployment;

/// How long things take inside of runtimes, at the watchable speed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long the agent takes to connect.
    pub connecting: Duration,
    /// How long it takes to synchronise.
    pub synchronising: Duration,
    /// How long the installer takes for one component.
    pub component: Duration,
    /// How long the BTP operator takes to let go of what was deleted.
    pub letting_go: Duration,
    /// How long to wait after something failed.
    pub retry: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connecting: Duration::from_secs(2),
            synchronising: Duration::from_secs(1),
            component: Duration::from_millis(700),
            letting_go: Duration::from_secs(2),
            retry: Duration::from_secs(5),
        }
    }
}

/// Nothing is tried again faster than this, however fast the world is.
const FASTEST: Duration = Duration::from_millis(500);

/// Opens runtimes to their controllers.
pub trait Doors: Send + Sync + 'static {
    /// A client of a runtime; nothing if there is no such runtime.
    fn open<'a>(&'a self, runtime: &'a str) -> BoxFuture<'a, Option<Client>>;
}

/// When an actor wants to be called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// When something changes.
    Woken,
    /// After a while.
    After(Duration),
}

/// State that the actors share.
struct Surroundings {
    doors: Arc<dyn Doors>,
    guests: Mutex<BTreeMap<String, Client>>,
    settings: Settings,
    pace: Pace,
    agent: Agent,
    installer: Installer,
    btp: btp::Operator,
}

/// The controllers of all runtimes.
pub struct Controllers {
    around: Arc<Surroundings>,
    wakes: Wakes,
    stop: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Controllers {
    /// Starts them; they work on what `woken` hears of.
    pub fn start(
        doors: Arc<dyn Doors>,
        (wakes, woken): (Wakes, WakeReceiver),
        settings: Settings,
        clock: Clock,
        pace: Pace,
    ) -> Self {
        let around = Arc::new(Surroundings {
            doors,
            guests: Mutex::default(),
            agent: Agent::new(settings.clone(), clock.clone(), pace.clone()),
            installer: Installer::new(settings.clone(), pace.clone()),
            btp: btp::Operator::new(settings.clone(), clock.clone(), pace.clone()),
            settings,
            pace,
        });
        let stop = CancellationToken::new();
        let work = queue::run(around.clone(), woken, clock);
        let working = tokio::spawn(stop.clone().run_until_cancelled_owned(work));
        let working = tokio::spawn(async move { drop(working.await) });
        Self { around, wakes, stop, tasks: Mutex::new(vec![working]) }
    }

    /// Works in a cluster of another API server too, under this name.
    pub fn follow(&self, runtime: &str, client: Client) {
        let mut guests = self.around.guests.lock().unwrap_or_else(PoisonError::into_inner);
        guests.insert(runtime.to_owned(), client.clone());
        let work = follow::run(client, runtime.to_owned(), self.wakes.clone());
        let following = tokio::spawn(self.stop.clone().run_until_cancelled_owned(work));
        let following = tokio::spawn(async move { drop(following.await) });
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(following);
    }

    /// Stops them wherever they are.
    pub async fn stop(&self) {
        self.stop.cancel();
        let tasks: Vec<_> =
            self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        for task in tasks {
            let _ = task.await;
        }
    }
}

impl Surroundings {
    /// Lets one actor look at one runtime.
    async fn act(&self, runtime: &str, actor: Actor) -> Next {
        let guest =
            self.guests.lock().unwrap_or_else(PoisonError::into_inner).get(runtime).cloned();
        let client = match guest {
            Some(client) => Some(client),
            None => self.doors.open(runtime).await,
        };
        let Some(client) = client else { return Next::Woken };
        let acted = match actor {
            Actor::Agent => self.agent.act(&client).await,
            Actor::Installer => self.installer.act(&client).await,
            Actor::BtpOperator => self.btp.act(&client).await,
        };
        acted.unwrap_or_else(|error| {
            tracing::debug!(runtime, ?actor, %error, "an actor in a runtime comes back later");
            Next::After(self.pace.scaled(self.settings.retry).max(FASTEST))
        })
    }
}
