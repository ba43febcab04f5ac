//! Collects the input of a runtime before it is ordered, and builds the requests.
//!
//! What a reader would get wrong: it lives in memory only and is made anew whenever its stage starts over, so every step
//! that adds something adds it again. It holds secrets, and nothing of it can be stored.

mod components;
mod error;
mod kyma;
mod payload;
mod plan_configuration;
mod provision;
mod runtime_version;

pub use error::CreatorError;
pub(super) use payload::change_plan;
pub use plan_configuration::PlanConfiguration;
pub use provision::{ProvisionTarget, change, upgrade};

pub(super) use plan_configuration::plan_configuration;
pub(super) use runtime_version::{major, runtime_version};

use std::collections::{BTreeMap, BTreeSet};

use clients::releases::ListedComponent;

use crate::{Order, order::OperatorCredentials, overrides::Overrides};

/// The component that connects a runtime with the Service Manager.
pub(super) const BTP_OPERATOR: &str = "btp-operator";

/// The component that leads old console addresses to the dashboard.
const BUSOLA_MIGRATOR: &str = "busola-migrator";

/// The collected input.
#[derive(Debug, Clone)]
pub struct Creator {
    /// The version of Kyma.
    version: String,
    /// All components that the version and the plan have.
    components: Vec<ListedComponent>,
    /// Components that are never installed for the order.
    removed: BTreeSet<&'static str>,
    /// Which of them are there only on demand, and whether there is one.
    optional: BTreeMap<String, bool>,
    /// The components that the order names, in lower case.
    asked: BTreeSet<String>,
    overrides: Overrides,
    /// How the Director knows the runtime.
    labels: BTreeMap<String, String>,
    /// The template of the Kyma resource.
    pub kyma_template: Option<String>,
}

impl Creator {
    /// For an order of a version with these components and those of its plan: what the plan does without is left out,
    /// what it has on demand is there if the order names it.
    pub fn new(
        order: &Order,
        version: &str,
        mut all: Vec<ListedComponent>,
        plan: PlanConfiguration,
    ) -> Self {
        all.extend(plan.additional_components);
        let asked = order.parameters.components.iter().flatten();
        let mut creator = Self {
            version: version.to_owned(),
            components: all,
            removed: components::removed(order),
            optional: BTreeMap::new(),
            asked: asked.map(|name| name.to_lowercase()).collect(),
            overrides: Overrides::default(),
            labels: BTreeMap::new(),
            kyma_template: plan.kyma_template,
        };
        for component in components::OPTIONAL {
            creator.disable(component);
        }
        creator
    }

    /// Leaves a component out unless the order names it or it is enabled later.
    pub fn disable(&mut self, component: &str) {
        let asked = self.asked.contains(&component.to_lowercase());
        self.optional.insert(component.to_owned(), asked);
    }

    /// Has a component in that is there on demand.
    pub fn enable(&mut self, component: &str) {
        self.optional.insert(component.to_owned(), true);
    }

    /// Has the operator for the Service Manager in, with these credentials. The Service Manager knows the cluster by its id.
    pub fn connect_operator(&mut self, given: &OperatorCredentials, cluster: &str) {
        let values = [
            ("manager.secret.clientid", given.clientid.as_str(), true),
            ("manager.secret.clientsecret", given.clientsecret.expose(), true),
            ("manager.secret.url", &given.sm_url, false),
            ("manager.secret.sm_url", &given.sm_url, false),
            ("manager.secret.tokenurl", &given.url, false),
            ("cluster.id", cluster, false),
            ("manager.priorityClassName", "kyma-system", false),
        ];
        for (key, value, secret) in values {
            self.overrides.set(Some(BTP_OPERATOR), key, value, secret);
        }
        self.enable(BTP_OPERATOR);
    }

    /// Has the component that leads old console addresses to the dashboard lead them to an instance's.
    pub fn lead_to_dashboard(&mut self, instance: &str) {
        let values = [
            ("deployment.env.kubeconfigID", instance),
            ("global.istio.gateway.name", "kyma-gateway"),
        ];
        for (key, value) in values {
            self.overrides.set(Some(BUSOLA_MIGRATOR), key, value, false);
        }
    }

    /// Has events go through Event Hubs, whatever the provider: the component that reads from them is in, NATS is out.
    pub fn use_event_hubs(&mut self) {
        components::use_event_hubs(&mut self.removed);
    }

    /// Overrides, to add some.
    pub fn overrides(&mut self) -> &mut Overrides {
        &mut self.overrides
    }

    /// Sets a label of the runtime.
    pub fn label(&mut self, key: &str, value: impl Into<String>) {
        self.labels.insert(key.to_owned(), value.into());
    }

    /// The components that the runtime gets.
    fn wanted(&self) -> impl Iterator<Item = &ListedComponent> {
        let is_off =
            |component: &ListedComponent| self.optional.get(&component.name) == Some(&false);
        let is_removed =
            |component: &ListedComponent| self.removed.contains(component.name.as_str());
        self.components.iter().filter(move |it| !is_off(it) && !is_removed(it))
    }
}

#[cfg(test)]
mod tests;
