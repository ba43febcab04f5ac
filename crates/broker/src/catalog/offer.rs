//! Which part of the catalog is offered, and how.

use std::time::Duration;

use clients::kubernetes::Networks;

use super::{Catalog, CatalogError, Plan};

/// The operator's settings of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of an operator")]
pub struct Offer {
    /// The names of the plans that can be ordered.
    pub plans: Vec<String>,
    /// Whether `oidc` and `administrators` are published.
    pub additional_parameters: bool,
    /// Whether parameters and platform regions that are not known are refused. They are ignored otherwise.
    pub closed: bool,
    /// Whether orders may choose the version of Kyma.
    pub on_demand_versions: bool,
    /// Whether an instance can go from one plan to another.
    pub plan_updateable: bool,
    /// Which instances can be bound, and for how long; none when none can.
    pub bindings: Option<BindingOffer>,
    /// For how long operators get access to runtimes; none when they get none.
    pub operator_access: Option<Duration>,
    /// Where kubeconfigs of orders may lead besides public addresses.
    pub customer_networks: Networks,
    /// How long platforms should poll at most; as long as an operation may take.
    pub maximum_polling: Option<Duration>,
}

/// Which instances can be bound, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingOffer {
    /// The names of the plans whose instances can be bound.
    pub plans: Vec<String>,
    /// How long credentials are valid when nobody says.
    pub usual: Duration,
    /// The shortest time that can be asked for.
    pub shortest: Duration,
    /// The longest time that can be asked for.
    pub longest: Duration,
    /// How many bindings an instance has at most, those not counted that have expired.
    pub most: u32,
}

impl Default for BindingOffer {
    fn default() -> Self {
        Self {
            plans: vec!["aws".to_owned()],
            usual: Duration::from_secs(600),
            shortest: Duration::from_secs(600),
            longest: Duration::from_secs(7200),
            most: 10,
        }
    }
}

impl Default for Offer {
    fn default() -> Self {
        Self {
            plans: vec!["azure".to_owned()],
            additional_parameters: false,
            closed: true,
            on_demand_versions: false,
            plan_updateable: false,
            bindings: None,
            operator_access: None,
            customer_networks: Networks::default(),
            maximum_polling: Some(Duration::from_secs(24 * 60 * 60)),
        }
    }
}

impl Offer {
    /// Refuses to offer what does not exist.
    pub fn check(&self, catalog: &Catalog) -> Result<(), CatalogError> {
        let bound = self.bindings.iter().flat_map(|bindings| &bindings.plans);
        let mut named = self.plans.iter().chain(bound);
        match named.find(|name| catalog.plan_named(name).is_none()) {
            Some(unknown) => Err(CatalogError::UnknownPlan(unknown.clone())),
            None => Ok(()),
        }
    }
}

impl Catalog {
    /// The plans that are offered, in the order of the catalog.
    pub fn offered<'a>(&'a self, offer: &'a Offer) -> impl Iterator<Item = &'a Plan> {
        self.plans.iter().filter(|plan| offer.plans.iter().any(|name| name == plan.name()))
    }

    /// The offered plan with this id.
    pub fn offered_plan(&self, offer: &Offer, id: &str) -> Option<&Plan> {
        self.plan(id).filter(|plan| offer.plans.iter().any(|name| name == plan.name()))
    }
}
