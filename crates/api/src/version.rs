//! Which version runs.

use axum::Json;
use serde::Serialize;

/// The body of `/version`.
#[derive(Serialize)]
pub(crate) struct Version {
    version: &'static str,
}

pub(crate) async fn version() -> Json<Version> {
    Json(Version { version: env!("CARGO_PKG_VERSION") })
}
