//! The Open Service Broker API: one file per endpoint.
//!
//! What a reader would get wrong: the same routes are served at three places, with different doors. Under `/oauth` a
//! token opens, and a platform's region may stand before `v2`; under `/v2` a user and a password do.

mod answer;
mod asker;
mod bindings;
mod body;
mod catalog;
mod deprovision;
mod error;
mod find;
mod frame;
mod instances;
mod last_operation;
mod path;
mod provision;
mod query;
mod update;
mod version;

use std::sync::Arc;

use axum::{Extension, Router, middleware::from_fn, routing::get};

pub(crate) use asker::Asker;
pub(crate) use frame::frame;
pub use instances::{Answer, Instances};
use query::AssumeAsync;

use crate::auth::{Credentials, RequireBasic, RequireScope, Verifier, scope};

type Port = axum::extract::State<Arc<dyn Instances>>;

/// What the API needs.
#[derive(Clone)]
pub struct Parts {
    /// The use cases: a `broker::instances::Broker`, except in tests.
    pub instances: Arc<dyn Instances>,
    /// Who checks tokens.
    pub verifier: Arc<Verifier>,
    /// Platforms that know nothing but Basic authentication.
    pub platforms: Vec<Credentials>,
    /// Whether a platform that does not say `accepts_incomplete` is taken for one that can wait, against the standard.
    pub assume_async: bool,
}

/// The routes at all three places, each behind its door.
pub fn routes(parts: Parts) -> Router {
    let password = RequireBasic::new(parts.platforms, parts.verifier.clock().clone());
    let token = RequireScope::new(parts.verifier, scope::BROKER_WRITE);
    let with_token = Router::new().nest("/oauth", endpoints()).nest("/oauth/{region}", endpoints());
    let with_token = token.around(with_token.route_layer(from_fn(version::check)));
    let with_password = password.around(endpoints().route_layer(from_fn(version::check)));
    let routes = with_token.merge(with_password).with_state(parts.instances);
    if parts.assume_async { routes.layer(Extension(AssumeAsync)) } else { routes }
}

fn endpoints() -> Router<Arc<dyn Instances>> {
    const INSTANCE: &str = "/v2/service_instances/{instance_id}";
    const BINDING: &str = "/v2/service_instances/{instance_id}/service_bindings/{binding_id}";
    let instance =
        get(find::serve).put(provision::serve).patch(update::serve).delete(deprovision::serve);
    let binding = get(bindings::serve).put(bindings::serve).delete(bindings::serve);
    Router::new()
        .route("/v2/catalog", get(catalog::serve))
        .route(INSTANCE, instance)
        .route(&format!("{INSTANCE}/last_operation"), get(last_operation::serve))
        .route(BINDING, binding)
        .route(&format!("{BINDING}/last_operation"), get(bindings::serve))
}
