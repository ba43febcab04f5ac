//! The Open Service Broker API.
//!
//! What a reader would get wrong: the same routes are served at three places, with different credentials. Under `/oauth` with
//! a token, where a platform's region may stand before `v2`; under `/v2` with user and password.

mod deprovision;
mod extract;
mod fetch;
mod not_offered;
mod provision;
mod respond;
mod update;
mod version;

use std::sync::Arc;

use axum::{Extension, Router, middleware::from_fn, routing::get};
use broker::instances::Broker;

use extract::AssumeAsync;
pub(crate) use extract::Authenticated;
pub(crate) use respond::frame;

use crate::auth::{Credentials, RequireBasic, RequireScope, Verifier, scope};

/// What the API needs.
#[derive(Clone)]
pub struct Parts {
    /// The use cases.
    pub broker: Broker,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
    /// Platforms that use Basic authentication.
    pub platforms: Vec<Credentials>,
    /// Whether requests without `accepts_incomplete` are asynchronous too, against the specification.
    pub assume_async: bool,
}

/// The routes at all three places, each with its authentication.
pub fn routes(parts: Parts) -> Router {
    let password = RequireBasic::new(parts.platforms, parts.verifier.clock().clone());
    let token = RequireScope::new(parts.verifier, scope::BROKER_WRITE);
    let with_token = Router::new().nest("/oauth", endpoints()).nest("/oauth/{region}", endpoints());
    let with_token = token.around(with_token.route_layer(from_fn(version::check)));
    let with_password = password.around(endpoints().route_layer(from_fn(version::check)));
    let routes = with_token.merge(with_password).with_state(parts.broker);
    if parts.assume_async { routes.layer(Extension(AssumeAsync)) } else { routes }
}

fn endpoints() -> Router<Broker> {
    use not_offered::binding;
    const INSTANCE: &str = "/v2/service_instances/{instance_id}";
    const BINDING: &str = "/v2/service_instances/{instance_id}/service_bindings/{binding_id}";
    let instance =
        get(fetch::instance).put(provision::serve).patch(update::serve).delete(deprovision::serve);
    Router::new()
        .route("/v2/catalog", get(fetch::catalog))
        .route(INSTANCE, instance)
        .route(&format!("{INSTANCE}/last_operation"), get(fetch::last_operation))
        .route(BINDING, get(binding).put(binding).delete(binding))
        .route(&format!("{BINDING}/last_operation"), get(binding))
}
