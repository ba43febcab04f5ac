//! Notifications for customers about maintenance: one event per orchestration.
//!
//! What a reader would get wrong: announcing the same orchestration again is no mistake. Callers forget that
//! they did, so it is answered like the first time.

mod calls;
mod control;
mod error;
mod events;

use std::{path::Path, sync::Arc};

use axum::{
    Router,
    routing::{patch, post},
};

use crate::{
    landscape::{MountedSystem, SystemContext},
    store::{Error, Store},
};
use events::Events;

/// Where its paths begin.
pub const BASE: &str = "/spc";

/// A running notification service. It lets everybody in.
#[derive(Debug)]
pub struct Spc {
    events: Store<Events>,
}

impl Spc {
    /// A service that keeps what it knows in `path`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { events: Store::open(path)? })
    }
}

/// The service's routes.
pub fn router(spc: Arc<Spc>) -> Router {
    Router::new()
        .route("/spc/createMaintenanceEvent", post(calls::create))
        .route("/spc/updateMaintenanceEvent", patch(calls::update))
        .route("/spc/cancelMaintenanceEvent", patch(calls::cancel))
        .with_state(spc)
}

pub(crate) fn mounted(world: &SystemContext<'_>) -> Result<MountedSystem, Error> {
    let spc = Arc::new(Spc::open(&world.folder.join("spc.log"))?);
    Ok(MountedSystem::new(spc.clone(), router(spc)))
}
