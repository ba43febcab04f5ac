//! The availability service: evaluations, and which of them belong to which.
//!
//! What a reader would get wrong: deleting an evaluation leaves it among its parent's children. A client that
//! wants it out has to say so first.

mod access;
mod calls;
mod control;
mod error;
mod evaluations;

use std::{path::Path, sync::Arc};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{delete, get, post, put},
};
use base::Clock;

use crate::{
    issuer::Issuer,
    landscape::{MountedSystem, SystemContext},
    store::{Error, Store},
};
use evaluations::Evaluations;

/// Where its paths begin.
pub const BASE: &str = "/avs";
/// The collection of evaluations.
pub const COLLECTION: &str = "/avs/api/v2/evaluationmetadata";

/// How the service behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The id of the first evaluation; the others follow.
    pub first_id: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { first_id: 910_001 }
    }
}

/// A running availability service.
#[derive(Debug)]
pub struct Avs {
    settings: Settings,
    evaluations: Store<Evaluations>,
    issuer: Arc<Issuer>,
    clock: Clock,
}

impl Avs {
    /// A service that keeps what it knows in `path` and accepts the tokens of `issuer`.
    pub fn open(
        settings: Settings,
        path: &Path,
        issuer: Arc<Issuer>,
        clock: Clock,
    ) -> Result<Self, Error> {
        Ok(Self { settings, evaluations: Store::open(path)?, issuer, clock })
    }
}

/// The service's routes.
pub fn router(avs: Arc<Avs>) -> Router {
    let one = format!("{COLLECTION}/{{id}}");
    Router::new()
        .route(COLLECTION, post(calls::create))
        .route(&format!("{COLLECTION}/"), post(calls::create))
        .route(&one, get(calls::show).delete(calls::remove))
        .route(&format!("{one}/tag"), post(calls::tag))
        .route(&format!("{one}/lifecycle"), put(calls::set_status))
        .route(&format!("{one}/child/{{child}}"), delete(calls::unlink))
        .route_layer(from_fn_with_state(avs.clone(), access::guard))
        .with_state(avs)
}

pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let path = world.folder.join("avs.log");
    let avs = Avs::open(Settings::default(), &path, world.issuer.clone(), world.clock.clone())?;
    let avs = Arc::new(avs);
    Ok(MountedSystem::new(avs.clone(), router(avs)))
}
