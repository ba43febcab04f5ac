//! Logging as a service: tenants that take their time, and certificates that take theirs.
//!
//! What a reader would get wrong: time passes only when a caller looks, and every create makes another
//! tenant. There is no search, and no delete.

mod access;
mod authority;
mod calls;
mod certificates;
mod control;
mod csr;
mod error;
mod tenants;

use std::{path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use base::Clock;
use fastrand::Rng;
use jiff::Timestamp;
use secrecy::SecretString;
use uuid::Builder;

use crate::{
    landscape::{MountedSystem, SystemContext},
    pace::Pace,
    store::{Error, Store},
};
use tenants::{Event, Stage, Tenants};

/// Its own, so that its ids are not those of another system: `LMS` in ASCII.
const SEED: u64 = 0x4c4d_5300_0000_0000;
/// Where its paths begin.
pub const BASE: &str = "/lms";
/// The token that a landscape's service asks for.
pub const TOKEN: &str = "kcp-lms-token";

/// How the service behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The token it asks for.
    pub token: SecretString,
    /// The address under which it is reached; callbacks begin with it.
    pub url: String,
    /// After which time the first name of a tenant resolves, at the watchable speed.
    pub partial_after: Duration,
    /// After which time both do.
    pub ready_after: Duration,
    /// How long a certificate takes.
    pub certificate_after: Duration,
    /// After which time a tenant's authority is shown.
    pub authority_after: Duration,
    /// The same seed and the same calls give the same ids.
    pub seed: u64,
}

impl Settings {
    /// A service at `url` that is nice to watch.
    pub fn at(url: &str) -> Self {
        Self {
            token: TOKEN.to_owned().into(),
            url: url.into(),
            partial_after: Duration::from_secs(2),
            ready_after: Duration::from_secs(4),
            certificate_after: Duration::from_secs(2),
            authority_after: Duration::from_secs(5),
            seed: 1,
        }
    }
}

/// A running logging service.
#[derive(Debug)]
pub struct Lms {
    settings: Settings,
    tenants: Store<Tenants>,
    clock: Clock,
    pace: Pace,
}

impl Lms {
    /// A service that keeps what it knows in `path`.
    pub fn open(settings: Settings, path: &Path, clock: Clock, pace: Pace) -> Result<Self, Error> {
        Ok(Self { settings, tenants: Store::open(path)?, clock, pace })
    }

    fn new_id(&self, number: u64) -> String {
        let seed = SEED ^ self.settings.seed.wrapping_add(number << 20);
        let random = Rng::with_seed(seed).u128(..);
        Builder::from_random_bytes(random.to_be_bytes()).into_uuid().to_string()
    }

    /// Lets happen what should have happened by now.
    fn settle(&self) -> Result<(), Error> {
        let now = self.clock.now();
        let due = |since: Timestamp, delay| since + self.pace.scaled(delay) <= now;
        let Settings { partial_after, ready_after, certificate_after, authority_after, .. } =
            self.settings;
        self.tenants.settle(|known| {
            let mut events = Vec::new();
            for tenant in known.by_id.values() {
                let id = || tenant.id.clone();
                let stage = match tenant.stage {
                    _ if known.switches.never_ready => tenant.stage,
                    Stage::Ready => Stage::Ready,
                    _ if due(tenant.requested_at, ready_after) => Stage::Ready,
                    _ if due(tenant.requested_at, partial_after) => Stage::Partial,
                    stage => stage,
                };
                if stage != tenant.stage {
                    events.push(Event::Moved { id: id(), stage });
                }
                if !tenant.authority_shown && due(tenant.requested_at, authority_after) {
                    events.push(Event::AuthorityShown { id: id() });
                }
            }
            let waiting = known
                .certificates
                .values()
                .filter(|one| !one.shown && due(one.requested_at, certificate_after));
            events.extend(waiting.map(|one| Event::Signed { id: one.id.clone() }));
            events
        })
    }
}

/// The service's routes.
pub fn router(lms: Arc<Lms>) -> Router {
    Router::new()
        .route("/lms/tenants", post(calls::create))
        .route("/lms/tenants/{id}", get(calls::show))
        .route("/lms/tenants/{id}/status", get(calls::status))
        .route("/lms/tenants/{id}/certs", post(certificates::request))
        .route("/lms/tenants/{id}/certs/ca", get(certificates::authority))
        .route("/lms/certificates/{id}", get(certificates::signed))
        .route_layer(from_fn_with_state(lms.clone(), access::guard))
        .with_state(lms)
}

pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let settings = Settings::at(&format!("{}{BASE}", world.issuer.url()));
    let path = world.folder.join("lms.log");
    let lms = Lms::open(settings, &path, world.clock.clone(), world.pace.clone())?;
    let lms = Arc::new(lms);
    Ok(MountedSystem::new(lms.clone(), router(lms)))
}
