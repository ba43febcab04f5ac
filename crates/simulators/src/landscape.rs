//! The simulated outside world as a whole, and the control API under `/landscape`.
//!
//! What a reader would get wrong: calls to the control API are in no ledger and meet no trouble.
//! Only the simulated systems have both.

mod access;
mod error;
mod ledger;
mod mounted;
mod systems;
mod troubles;

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use axum::{
    Json, Router,
    http::{StatusCode, Uri},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base::Clock;
use serde_json::{Value, json};

use crate::{
    clusters::Visits,
    director::{self, Director},
    edp,
    issuer::{self, Issuer, OpenError, SigningKey},
    ledger::Ledger,
    pace::{Pace, Speed},
    store::Error as StoreError,
    system::{Object, OrderError, System},
    trouble::{self, Troubles},
};
use error::Error;
pub(crate) use mounted::{MountedSystem, SystemContext};

/// The scope that shows the landscape.
pub const READ: &str = "landscape:read";
/// The scope that changes it.
pub const WRITE: &str = "landscape:write";
/// The scopes that its systems ask for.
pub const SCOPES: [&str; 6] =
    [READ, WRITE, "runtime:read", "runtime:write", edp::SCOPES[0], edp::SCOPES[1]];

/// What a landscape is made of.
#[derive(Debug)]
pub struct Settings {
    /// The issuer.
    pub issuer: issuer::Settings,
    /// The issuer's first key.
    pub key: SigningKey,
    /// The Director.
    pub director: director::Settings,
    /// How fast the world is at first.
    pub speed: Speed,
    /// The same seed and the same calls meet the same trouble.
    pub seed: u64,
}

/// A running landscape.
pub struct Landscape {
    issuer: Arc<Issuer>,
    director: Arc<Director>,
    mounted: Vec<MountedSystem>,
    /// Systems that answer on ports of their own.
    attached: OnceLock<Vec<Arc<dyn System>>>,
    /// The kubeconfigs of runtimes, for systems that work in them.
    visits: Arc<OnceLock<Arc<dyn Visits>>>,
    ledger: Arc<Ledger>,
    troubles: Arc<Troubles>,
    pace: Pace,
    clock: Clock,
}

impl Landscape {
    /// Opens the landscape that is kept in `folder`, or begins one there.
    pub fn open(settings: Settings, folder: &Path, clock: Clock) -> Result<Self, OpenError> {
        let file = |name: &str| folder.join(name);
        std::fs::create_dir_all(folder)
            .map_err(|source| StoreError::File { path: folder.to_owned(), source })?;
        let pace = Pace::new(settings.speed);
        let ledger = Arc::new(Ledger::open(&file("ledger.log"), clock.clone())?);
        let troubles = Troubles::open(&file("troubles.log"), settings.seed, clock.clone())?;
        let issuer =
            Issuer::open(settings.issuer, settings.key, &file("issuer.log"), clock.clone())?;
        let issuer = Arc::new(issuer);
        let director = Arc::new(Director::open(
            settings.director,
            &file("director.log"),
            issuer.clone(),
            clock.clone(),
            pace.clone(),
        )?);
        let mut mounted = vec![
            MountedSystem::new(issuer.clone(), issuer::router(issuer.clone())),
            MountedSystem::new(director.clone(), director::router(director.clone())),
        ];
        let visits = Arc::default();
        let world =
            SystemContext { folder, issuer: &issuer, clock: &clock, pace: &pace, visits: &visits };
        mounted.extend(world.systems()?);
        for change in mounted.iter().filter_map(|mounted| mounted.system.last_change()) {
            ledger.make_good(&change)?;
        }
        let troubles = Arc::new(troubles.with_issuer(issuer.clone()));
        let attached = OnceLock::new();
        Ok(Self { issuer, director, mounted, attached, visits, ledger, troubles, pace, clock })
    }

    /// The issuer.
    pub fn issuer(&self) -> &Arc<Issuer> {
        &self.issuer
    }

    /// The Director.
    pub fn director(&self) -> &Arc<Director> {
        &self.director
    }

    /// The ledger.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// The switches for trouble.
    pub fn troubles(&self) -> &Arc<Troubles> {
        &self.troubles
    }

    /// How fast the world is.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// The time in it.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Shows systems that answer on a port of their own; once.
    pub(crate) fn attach(&self, systems: Vec<Arc<dyn System>>) {
        if self.attached.set(systems).is_err() {
            tracing::error!("a landscape has its clusters once");
        }
    }

    /// Opens the runtimes to the systems that work in them; once.
    pub(crate) fn open_runtimes(&self, visits: Arc<dyn Visits>) {
        let _ = self.visits.set(visits);
    }

    /// Makes all systems forget everything, and ends all trouble. The ledger stays.
    pub fn reset(&self) -> Result<(), StoreError> {
        for system in self.systems() {
            system.reset()?;
        }
        self.troubles.clear(None)
    }

    /// Gives an order to a system, as `/landscape/systems/{system}/orders/{order}` does.
    pub fn order(&self, system: &str, order: &str, with: &Value) -> Result<(), OrderError> {
        let found = self.systems().find(|one| one.name() == system);
        let found = found.ok_or_else(|| OrderError::Invalid(format!("no system {system}")))?;
        found.order(order, with)
    }

    /// What a system keeps; nothing when there is no such system.
    pub fn objects(&self, system: &str) -> Vec<Object> {
        let found = self.systems().find(|one| one.name() == system);
        found.map(System::objects).unwrap_or_default()
    }

    fn systems(&self) -> impl Iterator<Item = &dyn System> {
        let mounted = self.mounted.iter().map(|mounted| &*mounted.system);
        mounted.chain(self.attached.get().into_iter().flatten().map(|system| &**system))
    }

    fn system(&self, name: &str) -> Result<&dyn System, Error> {
        let found = self.systems().find(|system| system.name() == name);
        found.ok_or_else(|| Error::NotFound(format!("system {name}")))
    }

    fn watched(&self, mounted: &MountedSystem) -> Router {
        let (ledger, troubles) = (self.ledger.clone(), self.troubles.clone());
        let (routes, name) = (mounted.routes.clone(), mounted.system.name());
        trouble::around(routes, name, ledger, troubles, self.clock.clone())
    }
}

/// All systems, each with its trouble and its lines in the ledger, and the control API.
pub fn router(landscape: &Arc<Landscape>) -> Router {
    let systems = landscape.mounted.iter().map(|mounted| landscape.watched(mounted));
    systems.fold(control(landscape.clone()), Router::merge).fallback(lost)
}

/// Tells what is wrong with an address that leads nowhere because of two slashes in a row.
async fn lost(uri: Uri) -> Response {
    let path = uri.path();
    if !path.contains("//") {
        return StatusCode::NOT_FOUND.into_response();
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let said = format!(
        "{path} has two slashes in a row, perhaps because a configured address ends in one: it is /{}",
        parts.join("/")
    );
    (StatusCode::NOT_FOUND, Json(json!({ "error": said }))).into_response()
}

fn control(landscape: Arc<Landscape>) -> Router {
    Router::new()
        .route("/landscape/systems", get(systems::list))
        .route("/landscape/systems/{system}", get(systems::show))
        .route("/landscape/systems/{system}/objects", get(systems::objects))
        .route(
            "/landscape/systems/{system}/objects/{kind}/{id}",
            get(systems::object).delete(systems::delete),
        )
        .route("/landscape/systems/{system}/orders/{order}", post(systems::order))
        .route("/landscape/systems/{system}/reset", post(systems::reset))
        .route("/landscape/reset", post(systems::reset_all))
        .route(
            "/landscape/troubles",
            get(troubles::list).post(troubles::add).delete(troubles::clear),
        )
        .route("/landscape/troubles/{id}", get(troubles::show).delete(troubles::remove))
        .route("/landscape/speed", get(troubles::speed).put(troubles::set_speed))
        .route("/landscape/ledger", get(ledger::page))
        .route("/landscape/ledger/stream", get(ledger::stream))
        .route_layer(from_fn_with_state(landscape.clone(), access::guard))
        .with_state(landscape)
}
