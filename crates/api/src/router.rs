//! Which path leads where, and the layers around all of them.

use std::{any::Any, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::get,
};
use broker::operations::view::Operations;
use tower_http::{
    catch_panic::CatchPanicLayer, limit::RequestBodyLimitLayer, timeout::TimeoutLayer,
};

use crate::{
    auth::{RequireScope, Verifier, scope},
    correlation::correlate,
    documents,
    error::Error,
    graphql::{self, QueryLimits, Runtimes},
    health::{self, Readiness},
    leftovers, operations, osb, runtimes, version,
};

/// What one request may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest body, in bytes.
    pub body: usize,
    /// The longest time until the answer begins.
    pub time: Duration,
}

impl Limits {
    /// What suits most callers.
    pub const DEFAULT: Self = Self { body: 1024 * 1024, time: Duration::from_secs(30) };
}

/// All names and values together; what a token and a few proxies need is far less.
const LARGEST_HEADERS: usize = 32 * 1024;

/// What the broker's routes need.
#[derive(Clone)]
pub struct Broker {
    /// Operations, as far as operators see them.
    pub operations: Arc<dyn Operations>,
    /// Whether the parts can work.
    pub readiness: Arc<dyn Readiness>,
    /// Who checks tokens.
    pub verifier: Arc<Verifier>,
}

/// The broker's routes, without the layers.
pub fn broker(parts: Broker) -> Router {
    let changing = RequireScope::of_operators(parts.verifier.clone(), scope::OPERATIONS_WRITE)
        .around(operations::changing());
    let changing = changing.with_state(parts.operations.clone());
    watching(parts.operations, parts.verifier).merge(changing).merge(open(parts.readiness))
}

/// What operators may see of a service's operations.
pub fn watching(operations: Arc<dyn Operations>, verifier: Arc<Verifier>) -> Router {
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(operations::reading())
        .with_state(operations)
}

/// The routes that platforms order at, without the layers; beside those of [`broker`].
pub fn platforms(parts: osb::Parts) -> Router {
    osb::routes(parts).merge(documents::routes())
}

/// What is left of instances that were removed, without the layers; beside the routes of [`broker`].
pub fn leftovers(broker: ::broker::instances::Broker, verifier: Arc<Verifier>) -> Router {
    let changing = RequireScope::of_operators(verifier.clone(), scope::OPERATIONS_WRITE)
        .around(leftovers::changing());
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(leftovers::routes())
        .merge(changing)
        .with_state(broker)
}

/// The routes that tell what runs, without the layers; beside those of [`broker`].
pub fn runtimes(parts: runtimes::Parts) -> Router {
    runtimes::routes(parts)
}

/// What the provisioner's routes need.
#[derive(Clone)]
pub struct ProvisionerParts {
    /// The use cases: a `provisioner::Provisioner`, except in tests.
    pub provisioner: Arc<dyn Runtimes>,
    /// Whether the parts can work.
    pub readiness: Arc<dyn Readiness>,
    /// Who checks tokens.
    pub verifier: Arc<Verifier>,
    /// What one query may cost.
    pub limits: QueryLimits,
}

/// The provisioner's routes, without the layers.
pub fn provisioner(parts: ProvisionerParts) -> Router {
    let scopes = [scope::PROVISIONER_READ, scope::PROVISIONER_WRITE];
    let door = RequireScope::any_of(parts.verifier, &scopes);
    door.around(graphql::routes(parts.provisioner, parts.limits))
        .merge(graphql::explorer())
        .merge(open(parts.readiness))
}

/// What every service answers without a token.
pub fn open(readiness: Arc<dyn Readiness>) -> Router {
    Router::new()
        .route("/readyz", get(health::ready))
        .with_state(readiness)
        .route("/healthz", get(health::alive))
        .route("/version", get(version::version))
}

/// Puts the layers around a service's routes: limits, panics, correlation.
pub fn shielded(routes: Router, limits: Limits) -> Router {
    routes
        .fallback(async || Error::NoRoute)
        .method_not_allowed_fallback(async || Error::NoMethod)
        .layer(RequestBodyLimitLayer::new(limits.body))
        .layer(from_fn(small_headers))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, limits.time))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(osb::frame))
        .layer(from_fn(correlate))
}

async fn small_headers(request: Request, next: Next) -> Response {
    let size: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > LARGEST_HEADERS {
        return Error::HeadersTooLarge.into_response();
    }
    next.run(request).await
}

#[expect(clippy::needless_pass_by_value, reason = "the layer gives the panic away")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    tracing::error!(panic = text, "a handler panicked");
    Error::Internal.into_response()
}
