//! Which components of Kyma an order does without.

use std::collections::BTreeSet;

use domain::plan::{Kind, Provider};

use crate::Order;

/// Components that are installed only if the order names them.
pub(super) const OPTIONAL: [&str; 2] = ["kiali", "tracing"];

const NO_PLAN_HAS: [&str; 2] = ["backup", "backup-init"];
/// On Azure, events go through Event Hubs.
const WITH_EVENT_HUBS: [&str; 2] = ["nats-streaming", "knative-provisioner-natss"];
const WITHOUT_EVENT_HUBS: [&str; 1] = ["knative-eventing-kafka"];
/// Components that work only in our own clusters.
const NOT_FOR_STRANGERS: [&str; 3] =
    ["connectivity", "connectivity-proxy", "application-connector"];

/// Components that an order's plan leaves out.
pub(super) fn removed(order: &Order) -> BTreeSet<&'static str> {
    let provider = order.resolved.cluster.as_ref().map(|cluster| cluster.provider);
    let event_hubs = order.plan_kind == Kind::Managed && provider == Some(Provider::Azure);
    let mut removed = BTreeSet::from(NO_PLAN_HAS);
    if event_hubs {
        removed.extend(WITH_EVENT_HUBS);
    } else {
        removed.extend(WITHOUT_EVENT_HUBS);
    }
    if order.plan_kind == Kind::OwnCluster {
        removed.extend(NOT_FOR_STRANGERS);
    }
    removed
}

/// Changes the components that are left out when events go through Event Hubs.
pub(super) fn use_event_hubs(removed: &mut BTreeSet<&'static str>) {
    removed.retain(|component| !WITHOUT_EVENT_HUBS.contains(component));
    removed.extend(WITH_EVENT_HUBS);
}
