//! The Mothership Reconciler: clusters, their configurations, and the rounds that bring one to the other.
//!
//! What a reader would get wrong: time passes only when a caller looks. All that would have happened by
//! now happens right before the next call is answered.

mod access;
mod clusters;
mod control;
mod error;
mod install;
mod machine;
mod operators;
mod payload;
mod records;

use std::{
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{delete, get, post, put},
};
use base::Clock;

use crate::{
    clusters::Visits,
    issuer::Issuer,
    landscape::{MountedSystem, SystemContext},
    pace::Pace,
    store::{Error, Store},
};
use records::{Event, Records, Status};

/// Where its paths begin.
pub const BASE: &str = "/reconciler";

/// How the Reconciler behaves. Durations are those at the watchable speed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a cluster waits for its turn.
    pub pending: Duration,
    /// How long one round takes.
    pub round: Duration,
    /// How long it waits after a round that failed.
    pub between: Duration,
    /// How long a cluster stays ready before it is looked after again; never, if it is zero.
    pub period: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            pending: Duration::from_secs(1),
            round: Duration::from_secs(4),
            between: Duration::from_secs(2),
            period: Duration::from_mins(10),
        }
    }
}

/// A running Reconciler.
pub struct Reconciler {
    settings: Settings,
    known: Store<Records>,
    issuer: Arc<Issuer>,
    clock: Clock,
    pace: Pace,
    /// The kubeconfigs of runtimes; without them kubeconfigs are believed, and nothing is installed.
    visits: Arc<OnceLock<Arc<dyn Visits>>>,
}

impl Reconciler {
    /// A Reconciler that keeps what it knows in `path`. The issuer tells where it is reached, and whose tokens are good.
    pub fn open(
        settings: Settings,
        path: &Path,
        issuer: Arc<Issuer>,
        clock: Clock,
        pace: Pace,
    ) -> Result<Self, Error> {
        let visits = Arc::default();
        Ok(Self { settings, known: Store::open(path)?, issuer, clock, pace, visits })
    }

    /// Lets happen what would have happened by now.
    fn settle(&self) -> Result<(), Error> {
        let times = machine::Times {
            now: self.clock.now(),
            pending: self.pace.scaled(self.settings.pending),
            round: self.pace.scaled(self.settings.round),
            between: self.pace.scaled(self.settings.between),
            period: self.pace.scaled(self.settings.period),
        };
        let mut moved = true;
        while moved {
            self.known.settle(|known| {
                let events = machine::due(known, &times);
                moved = !events.is_empty();
                // Done before it is said: a kill in between repeats it.
                for event in &events {
                    self.work(known, event);
                }
                events
            })?;
        }
        Ok(())
    }
}

impl Reconciler {
    /// Does in the runtime what an event says.
    fn work(&self, known: &Records, event: &Event) {
        let Some(visits) = self.visits.get() else { return };
        let (Event::Moved { id, .. } | Event::Gone { id, .. }) = event else { return };
        let Some(cluster) = known.clusters.get(id) else { return };
        let (Some(runtime), Some(config)) = (&cluster.runtime, cluster.configs.last()) else {
            return;
        };
        let done = match event {
            Event::Moved { status: Status::Ready, .. } => {
                install::install(&**visits, runtime, config)
            }
            Event::Gone { .. } => install::uninstall(&**visits, runtime),
            _ => Ok(()),
        };
        if let Err(error) = done {
            // Its cluster may be gone: a removal does not wait for us.
            tracing::debug!(runtime, error, "the reconciler cannot work in a runtime");
        }
    }
}

/// The Reconciler of a landscape.
pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let path = world.folder.join("reconciler.log");
    let (issuer, clock, pace) = (world.issuer.clone(), world.clock.clone(), world.pace.clone());
    let mut reconciler = Reconciler::open(Settings::default(), &path, issuer, clock, pace)?;
    reconciler.visits = world.visits.clone();
    let reconciler = Arc::new(reconciler);
    Ok(MountedSystem::new(reconciler.clone(), router(reconciler)))
}

/// The Reconciler's routes.
pub fn router(reconciler: Arc<Reconciler>) -> Router {
    let routes = Router::new()
        .route("/v1/clusters", post(clusters::apply).put(clusters::apply))
        .route("/v1/clusters/state", get(operators::state))
        .route("/v1/clusters/{runtime}", delete(clusters::delete))
        .route("/v1/clusters/{runtime}/status", get(clusters::latest).put(clusters::force))
        .route("/v1/clusters/{runtime}/configs/{version}/status", get(clusters::status))
        .route("/v1/clusters/{runtime}/config/{version}", get(operators::configuration))
        .route("/v1/clusters/{runtime}/statusChanges", get(operators::history))
        .route("/v1/reconciliations", get(operators::list))
        .route("/v1/reconciliations/cluster/{runtime}", delete(operators::forget))
        .route("/v1/reconciliations/{scheduling}/info", get(operators::info))
        .route("/v1/reconciliations/{scheduling}/debug", put(operators::debug))
        .route("/v1/operations/{scheduling}/{correlation}/stop", post(operators::stop))
        .route("/v1/operations/{scheduling}/{correlation}/debug", put(operators::debug_operation))
        .route_layer(from_fn_with_state(reconciler.clone(), access::guard))
        .route("/health/live", get(async || "OK"))
        .route("/health/ready", get(async || "OK"))
        .with_state(reconciler);
    Router::new().nest(BASE, routes)
}
