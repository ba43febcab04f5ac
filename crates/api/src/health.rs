//! Is it alive, and is it ready? Open to everyone, so it says no more than that.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;

/// Knows whether the parts of a service can work.
pub trait Readiness: Send + Sync {
    /// Each part by name, and whether it can work right now.
    fn parts(&self) -> Pin<Box<dyn Future<Output = BTreeMap<&'static str, bool>> + Send + '_>>;
}

/// The body of `/healthz`.
#[derive(Serialize)]
pub(crate) struct Health {
    status: &'static str,
}

/// The body of `/readyz`.
#[derive(Serialize)]
pub(crate) struct Ready {
    ready: bool,
    parts: BTreeMap<&'static str, bool>,
}

/// The process runs.
pub(crate) async fn alive() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The same as text, which is what probes of the provisioner have always read.
pub(crate) async fn alive_in_text() -> &'static str {
    "ok"
}

/// All parts can work; otherwise nobody should send requests here.
pub(crate) async fn ready(
    State(readiness): State<Arc<dyn Readiness>>,
) -> (StatusCode, Json<Ready>) {
    let parts = readiness.parts().await;
    let ready = parts.values().all(|part| *part);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Ready { ready, parts }))
}
