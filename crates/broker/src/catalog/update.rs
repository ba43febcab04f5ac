//! Whether a change of an instance can be accepted.

use domain::{
    parameters::{Provisioning, Update},
    plan::Kind,
};
use serde_json::Value;

use super::{
    Catalog, Offer, Place, Plan, Refusal, Rule, bounds, kubeconfig, oidc,
    provision::{auto_scaler, form},
    validate::validate,
};

/// What a change says, and of what. It cannot be printed: the parameters may hold a kubeconfig.
#[derive(Clone, Copy)]
pub struct Change<'a> {
    /// From where the instance was ordered.
    pub place: &'a Place,
    /// The instance's parameters so far.
    pub stored: &'a Provisioning,
    /// The parameters of the change; none when it is about the context alone.
    pub parameters: Option<&'a Value>,
    /// What the change's context says about the instance being active.
    pub active: Option<bool>,
}

impl Catalog {
    /// Accepts a change of an instance of a plan, or says what is wrong with it.
    pub fn check_update(
        &self,
        offer: &Offer,
        plan: &Plan,
        change: &Change<'_>,
    ) -> Result<Update, Refusal> {
        let raw = change.parameters.unwrap_or(&Value::Null);
        let mut update: Update = form(raw, "while unmarshaling update parameters")?;
        expiration(&update, change.active)?;
        oidc::check(update.oidc.as_ref())?;
        let merged = change.stored.changed_by(&update);
        let provider = self.provider(plan, change.place, change.stored)?;
        let nodes = self.nodes(plan, provider);
        auto_scaler(nodes, merged.auto_scaler_min, merged.auto_scaler_max)?;
        bounds::check(raw)?;
        if !raw.is_null() {
            let schema = self.update_schema(offer, plan, change.place);
            validate(&schema, raw, "while validating update parameters")?;
        }
        if plan.kind() == Kind::OwnCluster {
            let decoded = |encoded| kubeconfig::decode(encoded, &offer.customer_networks);
            update.kubeconfig = update.kubeconfig.as_ref().map(decoded).transpose()?;
        } else {
            update.kubeconfig = None;
            // Only what the change says: what was stored was accepted under the catalog of its time.
            self.sizes(plan, provider, &Provisioning::default().changed_by(&update))?;
        }
        Ok(update)
    }
}

fn expiration(update: &Update, active: Option<bool>) -> Result<(), Refusal> {
    if update.expired && active != Some(false) {
        let text = "context.active=false is required for expiration";
        return Err(Refusal::new(Rule::Expiration, "/expired", text));
    }
    Ok(())
}
