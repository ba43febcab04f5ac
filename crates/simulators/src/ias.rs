//! Identity authentication: a company with identity providers and service providers.
//!
//! What a reader would get wrong: a new service provider's id is in no answer. It is found in the company,
//! and if an operator said so, not at once.

mod access;
mod calls;
mod company;
mod configure;
mod control;
mod error;
mod providers;
mod secrets;

use std::{path::Path, sync::Arc};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{delete, get, post, put},
};
use fastrand::Rng;
use secrecy::SecretString;
use uuid::Builder;

use crate::{
    landscape::{MountedSystem, SystemContext},
    store::{Error, Store},
};
use providers::Providers;

/// Its own, so that its ids are not those of another system: `IAS` in ASCII.
const SEED: u64 = 0x4941_5300_0000_0000;
/// Where its paths begin.
pub const BASE: &str = "/ias";
/// The technical user of a landscape, and its secret.
pub const USER: (&str, &str) = ("kcp-ias", "kcp-ias-secret");
/// The name of the one identity provider of a landscape.
pub const IDENTITY_PROVIDER: &str = "kcp-people";

/// Whom the service knows.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The technical user.
    pub user: String,
    /// The technical user's secret.
    pub secret: SecretString,
    /// The identity providers: id and name.
    pub identity_providers: Vec<(String, String)>,
    /// The same seed and the same calls give the same ids.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            user: USER.0.into(),
            secret: USER.1.to_owned().into(),
            identity_providers: vec![("5f0f0000aa11".into(), IDENTITY_PROVIDER.into())],
            seed: 1,
        }
    }
}

/// A running identity authentication service.
#[derive(Debug)]
pub struct Ias {
    settings: Settings,
    providers: Store<Providers>,
}

impl Ias {
    /// A service that keeps what it knows in `path`.
    pub fn open(settings: Settings, path: &Path) -> Result<Self, Error> {
        Ok(Self { settings, providers: Store::open(path)? })
    }

    /// The id of the next thing of a kind, of which there were `number` before.
    fn new_id(&self, kind: u64, number: u64) -> String {
        let seed =
            SEED ^ self.settings.seed.wrapping_mul(31).wrapping_add(kind).wrapping_add(number << 8);
        let random = Rng::with_seed(seed).u128(..);
        Builder::from_random_bytes(random.to_be_bytes()).into_uuid().to_string()
    }
}

/// The service's routes.
pub fn router(ias: Arc<Ias>) -> Router {
    Router::new()
        .route("/ias/service/company/global", get(company::read))
        .route("/ias/service/sps", post(calls::create).put(configure::by_body))
        .route("/ias/service/sps/{id}", put(configure::by_path))
        .route("/ias/service/sps/{id}/rba", put(configure::access))
        .route("/ias/service/sps/clientSecret", delete(secrets::delete))
        .route("/ias/service/sps/delete", put(calls::delete))
        .route_layer(from_fn_with_state(ias.clone(), access::guard))
        .with_state(ias)
}

pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let ias = Arc::new(Ias::open(Settings::default(), &world.folder.join("ias.log"))?);
    Ok(MountedSystem::new(ias.clone(), router(ias)))
}
