//! Server-rendered pages for operators.
//!
//! They carry no token, so they are served only where nobody else can reach them: on this machine,
//! and only to a browser that asked for this machine by name (a foreign page cannot).

mod html;
mod overview;

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{
        HeaderValue, StatusCode,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
            X_FRAME_OPTIONS,
        },
    },
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::get,
};
use broker::operations::view::Operations;

/// Nothing is loaded, framed or sent anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// What the pages show.
#[derive(Clone)]
pub struct Console {
    /// The broker's operations.
    pub operations: Operations,
    /// What runs, and where.
    pub services: Arc<[Service]>,
}

/// A running service.
#[derive(Debug, Clone)]
pub struct Service {
    pub name: &'static str,
    pub address: String,
}

/// The pages.
pub fn router(console: Console) -> Router {
    Router::new()
        .route("/", get(overview::page))
        .with_state(console)
        .route_layer(from_fn(only_this_machine))
}

/// A page from elsewhere can send a browser here under its own name; that name is not ours.
async fn only_this_machine(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if !["127.0.0.1", "localhost", "[::1]"].contains(&name) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let mut response = next.run(request).await;
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
