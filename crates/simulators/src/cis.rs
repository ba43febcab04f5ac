//! The platform's central services: subaccounts, what happened to them, and what they may have.
//!
//! What a reader would get wrong: one system plays three services, as they share what they know. Nothing here
//! is changed by callers; subaccounts come and go by orders.

mod access;
mod accounts;
mod control;
mod cursor;
mod events;
mod records;

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, routing::get};
use base::Clock;

use crate::{
    issuer::Issuer,
    landscape::{MountedSystem, SystemContext},
    pace::Pace,
    store::{Error, Store},
};
use records::Records;

/// Where its paths begin.
pub const BASE: &str = "/cis";

/// How the services behave.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long after a deletion its event is there, at the watchable speed.
    pub deletion_event: Duration,
    /// How long events are kept.
    pub retention: Duration,
    /// How long a cursor is good.
    pub cursor: Duration,
    /// The default entitlement of a subaccount.
    pub entitlement: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deletion_event: Duration::from_secs(2),
            retention: Duration::from_hours(30 * 24),
            cursor: Duration::from_mins(10),
            entitlement: 2e9,
        }
    }
}

/// The running services.
#[derive(Debug)]
pub struct Cis {
    settings: Settings,
    known: Store<Records>,
    issuer: Arc<Issuer>,
    clock: Clock,
    pace: Pace,
    /// When the calls of the last second came.
    calls: Mutex<VecDeque<Duration>>,
}

impl Cis {
    /// Services that keep what they know in `path` and accept the tokens of `issuer`.
    pub fn open(
        settings: Settings,
        path: &Path,
        issuer: Arc<Issuer>,
        clock: Clock,
        pace: Pace,
    ) -> Result<Self, Error> {
        let known = Store::open(path)?;
        Ok(Self { settings, known, issuer, clock, pace, calls: Mutex::default() })
    }
}

/// The services of a landscape.
pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let path = world.folder.join("cis.log");
    let (issuer, clock, pace) = (world.issuer.clone(), world.clock.clone(), world.pace.clone());
    let cis = Arc::new(Cis::open(Settings::default(), &path, issuer, clock, pace)?);
    Ok(MountedSystem::new(cis.clone(), router(cis)))
}

/// The services' routes.
pub fn router(cis: Arc<Cis>) -> Router {
    let routes = Router::new()
        .route("/public/rest/v2/events", get(events::public))
        .route("/events/v1/events/central", get(events::numbered))
        .route("/events/v2/events/central", get(events::central))
        .route("/accounts/v1/technical/subaccounts/{subaccount}", get(accounts::subaccount))
        .route(
            "/entitlements/v1/services/{service}/plans/{plan}/subaccounts/{subaccount}/entitlements",
            get(accounts::entitlement),
        )
        .with_state(cis);
    Router::new().nest(BASE, routes)
}
