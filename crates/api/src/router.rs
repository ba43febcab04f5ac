//! Which path leads where.

use std::sync::Arc;

use ::broker::{
    answers::Answers, instances::Broker, jobs::Jobs, operations::view::Operations,
    orchestrations::Orchestrations,
};
use ::provisioner::Provisioner;
use axum::{Router, routing::get};

use crate::{
    answers, archive,
    auth::{RequireScope, Verifier, scope},
    documents, expire,
    graphql::{self, QueryLimits},
    health::{self, Readiness},
    history, info, jobs, kubeconfig, leftovers, operations, orchestrations, osb, runtimes, version,
};

pub use crate::shield::{Overloaded, RequestLimits, shielded};

/// The services behind the broker's routes.
#[derive(Clone)]
pub struct BrokerParts {
    /// The broker's operations.
    pub operations: Operations,
    /// Whether the parts can work.
    pub readiness: Arc<dyn Readiness>,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
}

/// The broker's routes, without the layers.
pub fn broker(parts: BrokerParts) -> Router {
    let unsticking = unsticking(parts.operations.clone(), parts.verifier.clone());
    watching(parts.operations, parts.verifier).merge(unsticking).merge(open(parts.readiness))
}

/// Routes for operators about a service's operations.
pub fn watching(operations: Operations, verifier: Arc<Verifier>) -> Router {
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(operations::reading().merge(answers::of_operations()))
        .with_state(operations)
}

/// Routes for operators about the broker and its account pool, without the layers; beside the routes of [`broker`].
pub fn answers(answers: Answers, verifier: Arc<Verifier>) -> Router {
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(answers::of_broker())
        .with_state(answers)
}

/// How operators cancel, retry, skip steps of and abandon a service's operations.
pub fn unsticking(operations: Operations, verifier: Arc<Verifier>) -> Router {
    RequireScope::of_operators(verifier, scope::OPERATIONS_WRITE)
        .around(operations::unstuck())
        .with_state(operations)
}

/// Routes for the history of instances and the verification of the audit.
pub fn history(operations: Operations, broker: Broker, verifier: Arc<Verifier>) -> Router {
    let events = RequireScope::of_operators(verifier.clone(), scope::RUNTIMES_READ)
        .around(history::events());
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(history::verification())
        .merge(events)
        .with_state(history::Services { operations, broker: Some(broker) })
}

/// The same of the provisioner's runtimes.
pub fn history_of_runtimes(operations: Operations, verifier: Arc<Verifier>) -> Router {
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(history::events().merge(history::verification()))
        .with_state(history::Services { operations, broker: None })
}

/// The routes that platforms order at, without the layers; beside those of [`broker`].
pub fn platforms(parts: osb::OsbParts) -> Router {
    osb::routes(parts).merge(documents::routes())
}

/// Routes for leftovers and archived instances, without the layers; beside the routes of [`broker`].
pub fn leftovers(broker: Broker, verifier: Arc<Verifier>) -> Router {
    let changing = RequireScope::of_operators(verifier.clone(), scope::OPERATIONS_WRITE)
        .around(leftovers::changing());
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(leftovers::routes().merge(archive::routes()))
        .merge(changing)
        .with_state(broker)
}

/// The jobs that keep everything clean, without the layers; beside the routes of [`broker`].
pub fn jobs(jobs: Jobs, verifier: Arc<Verifier>) -> Router {
    let running = RequireScope::of_operators(verifier.clone(), scope::OPERATIONS_WRITE)
        .around(jobs::running());
    RequireScope::of_operators(verifier, scope::OPERATIONS_READ)
        .around(jobs::reading())
        .merge(running)
        .with_state(jobs)
}

/// How instances expire, without the layers; beside the routes of [`broker`].
pub fn expiry(broker: Broker, verifier: Arc<Verifier>) -> Router {
    expire::routes(broker, verifier)
}

/// The routes that tell what runs, without the layers; beside those of [`broker`].
pub fn runtimes(parts: runtimes::RuntimesParts) -> Router {
    info::routes(parts.clone()).merge(runtimes::routes(parts))
}

/// How many runtimes are upgraded at once, without the layers; beside the routes of [`broker`].
pub fn fleet(orchestrations: Orchestrations, verifier: Arc<Verifier>) -> Router {
    orchestrations::routes(orchestrations, verifier)
}

/// The routes of kubeconfigs and bindings, without the layers; beside those of [`broker`].
pub fn kubeconfigs(parts: kubeconfig::KubeconfigParts) -> Router {
    kubeconfig::routes(parts)
}

/// The services behind the provisioner's routes.
#[derive(Clone)]
pub struct ProvisionerParts {
    /// The use cases.
    pub provisioner: Provisioner,
    /// Whether the parts can work.
    pub readiness: Arc<dyn Readiness>,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
    /// Limits of one query.
    pub limits: QueryLimits,
}

/// The provisioner's routes, without the layers.
pub fn provisioner(parts: ProvisionerParts) -> Router {
    let scopes = [scope::PROVISIONER_READ, scope::PROVISIONER_WRITE];
    let door = RequireScope::any_of(parts.verifier, &scopes);
    door.around(graphql::routes(parts.provisioner, parts.limits))
        .merge(graphql::explorer())
        .merge(documents::of_provisioner())
        .merge(open_besides_health(parts.readiness).route("/healthz", get(health::alive_in_text)))
}

/// Routes of every service that need no token.
pub fn open(readiness: Arc<dyn Readiness>) -> Router {
    open_besides_health(readiness).route("/healthz", get(health::alive))
}

/// The same without `/healthz`, which is not the same everywhere.
fn open_besides_health(readiness: Arc<dyn Readiness>) -> Router {
    Router::new()
        .route("/readyz", get(health::ready))
        .with_state(readiness)
        .route("/version", get(version::version))
}
