//! Whether an order can be accepted.
//!
//! The order of the checks is part of the protocol: clients see the first failure, and the published schema comes after
//! the number of nodes and the issuer.

mod form;
mod rules;

pub(super) use form::form;
pub(super) use rules::{administrators, auto_scaler, nodes, nodes_of};

use domain::{
    parameters::Provisioning,
    plan::{Kind, Provider},
};
use serde_json::Value;

use super::{
    Catalog, Offer, Plan, PlatformRegion, Refusal, Rule, bounds, kubeconfig, nearest::nearest,
    oidc, validate::validate,
};

/// An order. It has no `Debug`: the parameters may hold a kubeconfig.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// From where.
    pub place: &'a PlatformRegion,
    /// By which global account.
    pub global_account: &'a str,
    /// The parameters; none when there are none.
    pub parameters: Option<&'a Value>,
}

/// An order that can be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedOrder {
    /// Its parameters, as they are kept: versions only where they may be chosen, the licence as the plan has it, the
    /// kubeconfig in clear.
    pub parameters: Provisioning,
    /// Its provider; none when it brings its cluster.
    pub provider: Option<Provider>,
}

impl Catalog {
    /// Accepts an order of a plan, or says what is wrong with it.
    pub fn check_provision(
        &self,
        offer: &Offer,
        plan: &Plan,
        request: &Request<'_>,
    ) -> Result<CheckedOrder, Refusal> {
        const DOING: &str = "while extracting input parameters: while unmarshaling raw parameters";
        let place = request.place;
        let Some(raw) = request.parameters else {
            let text = format!("{DOING}: unexpected end of JSON input");
            return Err(Refusal::new(Rule::Form, "", text));
        };
        let mut parameters: Provisioning = form(raw, DOING)?;
        let provider = self.provider(plan, place, &parameters)?;
        let (min, max) = (parameters.auto_scaler_min, parameters.auto_scaler_max);
        auto_scaler(self.nodes(plan, provider), min, max)?;
        oidc::check(parameters.oidc.as_ref())?;
        bounds::check(raw)?;
        self.platform_region(offer, place)?;
        let schema = self.create_schema(offer, plan, place);
        validate(&schema, raw, "while validating input parameters")?;
        if place.eu_access
            && !self.eu_access.whitelist.iter().any(|ga| ga == request.global_account)
        {
            return Err(Refusal::new(Rule::EuAccess, "", self.eu_access.message.clone()));
        }
        if !offer.on_demand_versions {
            parameters.kyma_version = None;
            parameters.overrides_version = None;
        }
        parameters.licence_type = plan.licence_type().map(str::to_owned);
        rules::administrators(parameters.administrators.as_deref())?;
        if plan.kind() == Kind::OwnCluster {
            let decoded = |encoded| kubeconfig::decode(encoded, &offer.customer_networks);
            parameters.kubeconfig = parameters.kubeconfig.as_ref().map(decoded).transpose()?;
            return Ok(CheckedOrder { parameters, provider });
        }
        // Of no use to a cluster that is made here, and better not kept.
        parameters.kubeconfig = None;
        self.trial_region(plan, &parameters)?;
        self.sizes(plan, provider, &parameters)?;
        rules::nodes(&parameters)?;
        rules::purpose(parameters.purpose.as_deref())?;
        self.zones(plan, place, provider, &parameters)?;
        self.node_per_zone(plan, place, provider, &parameters)?;
        Ok(CheckedOrder { parameters, provider })
    }

    /// The provider of an order; none when it brings its cluster.
    pub fn provider(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        parameters: &Provisioning,
    ) -> Result<Option<Provider>, Refusal> {
        match plan.kind() {
            Kind::OwnCluster => Ok(None),
            Kind::Managed => Ok(plan.providers().next()),
            Kind::Free => {
                let enabled = |provider: &Provider| {
                    self.defaults.free_providers.contains(provider)
                        && plan.cluster(*provider).is_some()
                };
                place.provider.filter(enabled).map(Some).ok_or_else(|| {
                    let word = place.provider_word();
                    let text = format!(
                        "while obtaining plan defaults: freemium provider {word} is not enabled"
                    );
                    Refusal::new(Rule::FreeProvider, "", text)
                })
            }
            Kind::Trial => match parameters.provider.as_deref().filter(|label| !label.is_empty()) {
                None => Ok(Some(self.defaults.trial_provider)),
                Some(label) => Provider::from_label(label)
                    .filter(|provider| plan.cluster(*provider).is_some())
                    .map(Some)
                    .ok_or_else(|| {
                        let text = format!("trial provider for {label} not yet implemented");
                        Refusal::new(Rule::TrialProvider, "/provider", text)
                    }),
            },
        }
    }

    /// A platform's region that there is not is a slip in the address, and would take the order elsewhere without a word.
    fn platform_region(&self, offer: &Offer, place: &PlatformRegion) -> Result<(), Refusal> {
        let region = place.platform_region.as_str();
        if !offer.closed || self.knows_platform_region(region) {
            return Ok(());
        }
        let meant = nearest(region, self.platform_regions());
        let meant = meant.map_or_else(String::new, |it| format!(", did you mean {it}?"));
        let text = format!("the platform's region {region} is not known{meant}");
        Err(Refusal::new(Rule::PlatformRegion, "", text))
    }

    fn trial_region(&self, plan: &Plan, parameters: &Provisioning) -> Result<(), Refusal> {
        let region = parameters.region.as_deref().unwrap_or_default();
        let known = region.is_empty() || self.regions.trial.areas.contains_key(region);
        if plan.kind() != Kind::Trial || known {
            return Ok(());
        }
        let text = "invalid region specified in request for trial";
        Err(Refusal::new(Rule::TrialRegion, "/region", text))
    }
}
