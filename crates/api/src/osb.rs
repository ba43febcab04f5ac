//! The Open Service Broker API.
//!
//! What a reader would get wrong: the same routes are served at three places, with different credentials. Under `/oauth` with
//! a token, where a platform's region may stand before `v2`; under `/v2` with user and password.

mod bindings;
mod deprovision;
mod extract;
mod fetch;
mod provision;
mod respond;
mod update;
mod version;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::FromRef,
    middleware::from_fn,
    routing::{get, put},
};
use broker::{bindings::Bindings, instances::Broker};

use extract::AssumeAsync;
pub(crate) use extract::{Authenticated, ORIGINATING_IDENTITY};
pub(crate) use respond::frame;

use crate::auth::{Credentials, RequireBasic, RequireScope, Verifier, scope};

/// The services behind the API.
#[derive(Clone)]
pub struct OsbParts {
    /// The use cases of instances.
    pub broker: Broker,
    /// The use cases of their bindings.
    pub bindings: Bindings,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
    /// Platforms that use Basic authentication.
    pub platforms: Vec<Credentials>,
    /// Whether requests without `accepts_incomplete` are asynchronous too, against the specification.
    pub assume_async: bool,
}

/// The routes at all three places, each with its authentication.
pub fn routes(parts: OsbParts) -> Router {
    let password = RequireBasic::new(parts.platforms, parts.verifier.clock().clone());
    let token = RequireScope::new(parts.verifier, scope::BROKER_WRITE);
    let with_token = Router::new().nest("/oauth", endpoints()).nest("/oauth/{region}", endpoints());
    let with_token = token.around(with_token.route_layer(from_fn(version::check)));
    let with_password = password.around(endpoints().route_layer(from_fn(version::check)));
    let services = Services { broker: parts.broker, bindings: parts.bindings };
    let routes = with_token.merge(with_password).with_state(services);
    if parts.assume_async { routes.layer(Extension(AssumeAsync)) } else { routes }
}

/// The use cases.
#[derive(Clone)]
struct Services {
    broker: Broker,
    bindings: Bindings,
}

impl FromRef<Services> for Broker {
    fn from_ref(services: &Services) -> Self {
        services.broker.clone()
    }
}

impl FromRef<Services> for Bindings {
    fn from_ref(services: &Services) -> Self {
        services.bindings.clone()
    }
}

fn endpoints() -> Router<Services> {
    const INSTANCE: &str = "/v2/service_instances/{instance_id}";
    const BINDING: &str = "/v2/service_instances/{instance_id}/service_bindings/{binding_id}";
    let instance =
        get(fetch::instance).put(provision::serve).patch(update::serve).delete(deprovision::serve);
    Router::new()
        .route("/v2/catalog", get(fetch::catalog))
        .route(INSTANCE, instance)
        .route(&format!("{INSTANCE}/last_operation"), get(fetch::last_operation))
        // A path of its own: a broker that does not know it does nothing.
        .route(&format!("{INSTANCE}/dry_run"), put(provision::check).patch(update::check))
        .route(BINDING, get(bindings::find).put(bindings::bind).delete(bindings::unbind))
        .route(&format!("{BINDING}/last_operation"), get(bindings::last_operation))
}
