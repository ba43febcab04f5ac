//! The event data platform: data tenants in namespaces, each with metadata.
//!
//! What a reader would get wrong: names are taken as they are. `SA` and `sa` are two tenants.

mod access;
mod calls;
mod control;
mod error;
mod tenants;

use std::{path::Path, sync::Arc};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{delete, post},
};

use crate::{
    issuer::Issuer,
    landscape::{MountedSystem, SystemContext},
    store::{Error, Store},
};
use tenants::Tenants;

/// Where its paths begin.
pub const BASE: &str = "/edp";
/// The scopes it asks for: to look, and to change something.
pub const SCOPES: [&str; 2] = ["edp-namespace.read", "edp-namespace.update"];

/// How the platform behaves.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The namespaces it knows; every namespace is known if none is named.
    pub namespaces: Vec<String>,
}

/// A running event data platform.
#[derive(Debug)]
pub struct Edp {
    settings: Settings,
    tenants: Store<Tenants>,
    issuer: Arc<Issuer>,
}

impl Edp {
    /// A platform that keeps what it knows in `path` and accepts the tokens of `issuer`.
    pub fn open(settings: Settings, path: &Path, issuer: Arc<Issuer>) -> Result<Self, Error> {
        Ok(Self { settings, tenants: Store::open(path)?, issuer })
    }

    fn knows(&self, namespace: &str) -> bool {
        let known = &self.settings.namespaces;
        known.is_empty() || known.iter().any(|known| known == namespace)
    }
}

/// The platform's routes.
pub fn router(edp: Arc<Edp>) -> Router {
    let all = "/edp/namespaces/{namespace}/dataTenants";
    let one = format!("{all}/{{name}}/{{environment}}");
    Router::new()
        .route(all, post(calls::create_tenant))
        .route(&one, delete(calls::delete_tenant))
        .route(&format!("{one}/metadata"), post(calls::create_metadata).get(calls::list))
        .route(&format!("{one}/metadata/{{key}}"), delete(calls::delete_metadata))
        .route_layer(from_fn_with_state(edp.clone(), access::guard))
        .with_state(edp)
}

pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let path = world.folder.join("edp.log");
    let edp = Arc::new(Edp::open(Settings::default(), &path, world.issuer.clone())?);
    Ok(MountedSystem::new(edp.clone(), router(edp)))
}
