//! The Director: a registry of runtimes behind GraphQL, one world per tenant.
//!
//! What a reader would get wrong: time passes only when a caller looks. A runtime whose agent would
//! have connected by now is connected right before the next call is answered.

mod access;
mod connector;
mod control;
mod error;
mod mutation;
mod query;
mod rules;
mod runtimes;
mod types;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_graphql::{EmptySubscription, Schema};
use axum::{Router, routing::post};
use base::Clock;
use fastrand::Rng;
use uuid::Builder;

use crate::{
    issuer::Issuer,
    pace::Pace,
    store::{Error, Store},
};
use mutation::Mutation;
use query::Query;
use runtimes::{Condition, Event, Runtimes};

/// Where its paths begin.
pub const BASE: &str = "/director";

/// How the Director behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The tenants it knows; every tenant is known if none is named.
    pub tenants: Vec<String>,
    /// Whether it plays the runtime agent; not if a controller in the runtime does.
    pub plays_agent: bool,
    /// How long the agent takes to connect, at the watchable speed.
    pub connecting: Duration,
    /// The same seed and the same calls give the same ids.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tenants: Vec::new(), plays_agent: true, connecting: Duration::from_secs(3), seed: 1 }
    }
}

/// A running Director.
#[derive(Debug)]
pub struct Director {
    settings: Settings,
    runtimes: Store<Runtimes>,
    ids: Mutex<Rng>,
    issuer: Arc<Issuer>,
    clock: Clock,
    pace: Pace,
}

#[derive(Clone)]
struct SchemaState {
    director: Arc<Director>,
    schema: Schema<Query, Mutation, EmptySubscription>,
}

impl Director {
    /// A Director that keeps what it knows in `path` and accepts the tokens of `issuer`.
    pub fn open(
        settings: Settings,
        path: &Path,
        issuer: Arc<Issuer>,
        clock: Clock,
        pace: Pace,
    ) -> Result<Self, Error> {
        let runtimes: Store<Runtimes> = Store::open(path)?;
        // Ids must not come again after a restart, so the seed moves on with what was registered.
        let seed = settings.seed.wrapping_add(runtimes.read(|known| known.registered) << 20);
        let ids = Mutex::new(Rng::with_seed(seed));
        Ok(Self { settings, runtimes, ids, issuer, clock, pace })
    }

    fn knows(&self, tenant: &str) -> bool {
        self.settings.tenants.is_empty()
            || self.settings.tenants.iter().any(|known| known == tenant)
            || self.runtimes.read(|known| known.tenants.contains(tenant))
    }

    fn new_id(&self) -> String {
        let random = self.ids.lock().unwrap_or_else(PoisonError::into_inner).u128(..);
        Builder::from_random_bytes(random.to_be_bytes()).into_uuid().to_string()
    }

    fn connector_url(&self) -> String {
        format!("{}{}", self.issuer.url(), connector::PATH)
    }

    /// Lets the agents connect whose time has come.
    fn settle(&self) -> Result<(), Error> {
        let (now, delay) = (self.clock.now(), self.pace.scaled(self.settings.connecting));
        self.runtimes.settle(|known| {
            if !known.plays_agent.unwrap_or(self.settings.plays_agent) {
                return Vec::new();
            }
            let waiting = known.by_id.values().filter(|runtime| {
                runtime.condition == Condition::Provisioning && runtime.condition_at + delay <= now
            });
            waiting
                .filter_map(|runtime| {
                    let domain = runtime.labels.get("gardenerClusterDomain")?.as_str()?;
                    let console = format!("https://console.{domain}");
                    Some(Event::Connected { id: runtime.id.clone(), at: now, console })
                })
                .collect()
        })
    }
}

/// The routes of the Director, and of the connector beside it.
pub fn router(director: Arc<Director>) -> Router {
    let schema = Schema::build(Query, Mutation, EmptySubscription)
        .limit_depth(20)
        .limit_complexity(1_000)
        .finish();
    Router::new()
        .route("/director/graphql", post(access::graphql))
        .with_state(SchemaState { director: director.clone(), schema })
        .merge(connector::router(director))
}
