//! Whether a change of an instance can be accepted.

use domain::{
    parameters::{Cluster, Provisioning, ResolvedOrder, Update},
    plan::Kind,
};
use serde_json::Value;

use super::{
    Catalog, Offer, Plan, PlatformRegion, Refusal, Rule, bounds, kubeconfig, oidc,
    provision::{administrators, auto_scaler, form, nodes, nodes_of},
    resolve::{is_unfiltered, once_each},
    validate::validate,
};

/// An update and its instance. It has no `Debug`: the parameters may hold a kubeconfig.
#[derive(Clone, Copy)]
pub struct Change<'a> {
    /// From where the instance was ordered.
    pub place: &'a PlatformRegion,
    /// The instance's parameters so far.
    pub stored: &'a Provisioning,
    /// The cluster that the instance has, or gets; none when it brings its own.
    pub cluster: Option<&'a Cluster>,
    /// The parameters of the change; none when it is about the context alone.
    pub parameters: Option<&'a Value>,
    /// `active` in the context of the update.
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
        self.merge(plan, change.place, change.stored, change.cluster, &update)?;
        let provider = self.provider(plan, change.place, change.stored)?;
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
        administrators(update.administrators.as_deref())?;
        Ok(update)
    }

    /// The parameters after a change, if they can be together, and fit the cluster.
    pub fn merge(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        stored: &Provisioning,
        cluster: Option<&Cluster>,
        update: &Update,
    ) -> Result<Provisioning, Refusal> {
        let merged = stored.changed_by(update);
        let range = self.nodes(plan, self.provider(plan, place, stored)?);
        match cluster {
            Some(cluster) => nodes_of(cluster, range, update)?,
            None => auto_scaler(range, merged.auto_scaler_min, merged.auto_scaler_max)?,
        }
        nodes(&merged)?;
        Ok(merged)
    }

    /// What is known about a runtime after a change: only what the change says is other than before, whatever the catalog has become
    /// since the order. `license`: the licence, where it changes.
    pub fn resolve_again(
        &self,
        resolved: &ResolvedOrder,
        update: &Update,
        license: Option<&str>,
    ) -> ResolvedOrder {
        let mut resolved = resolved.clone();
        if let Some(named) = update.administrators.clone().filter(|named| !named.is_empty()) {
            resolved.administrators = once_each(named);
        }
        if let Some(license) = license {
            resolved.network_filter_disabled = is_unfiltered(license);
        }
        let Some(cluster) = &mut resolved.cluster else { return resolved };
        let set = |field: &mut u32, said: Option<u32>| *field = said.unwrap_or(*field);
        let count = |said: Option<i64>| said.and_then(|said| u32::try_from(said).ok());
        set(&mut cluster.auto_scaler_min, count(update.auto_scaler_min));
        set(&mut cluster.auto_scaler_max, count(update.auto_scaler_max));
        set(&mut cluster.max_surge, update.max_surge);
        set(&mut cluster.max_unavailable, update.max_unavailable);
        if let Some(machine) = update.machine_type.as_ref().filter(|it| !it.is_empty()) {
            cluster.machine_type.clone_from(machine);
        }
        if let Some(oidc) = update.oidc.as_ref().filter(|oidc| oidc.is_provided()) {
            cluster.oidc = oidc.over(&cluster.oidc);
        }
        resolved
    }
}

impl Catalog {
    /// What a runtime has once its instance is of another plan. The cluster stays: only what the plan does not allow, a machine or a
    /// number of nodes, becomes what is nearest to it. Its purpose is the plan's, unless the order names one.
    pub fn move_to(
        &self,
        plan: &Plan,
        parameters: &mut Provisioning,
        resolved: &mut ResolvedOrder,
    ) {
        resolved.profile = plan.profile();
        resolved.licence_type = plan.licence_type().map(str::to_owned);
        parameters.licence_type.clone_from(&resolved.licence_type);
        let Some(cluster) = &mut resolved.cluster else { return };
        let Some(data) = plan.cluster(cluster.provider) else { return };
        if parameters.purpose.as_ref().is_none_or(String::is_empty) {
            let purpose = data.purpose.as_ref().unwrap_or(&self.defaults.purpose);
            cluster.purpose.clone_from(purpose);
        }
        if let Some(machines) = &data.machine_types {
            let mut offered = machines.create.iter().chain(&machines.update_too);
            if !offered.any(|machine| machine.value == cluster.machine_type) {
                cluster.machine_type.clone_from(&data.machine_type.value);
                parameters.machine_type = None;
            }
        }
        let Some(nodes) = plan.nodes() else { return };
        let (min, max) = (&nodes.min, &nodes.max);
        cluster.auto_scaler_min = cluster.auto_scaler_min.clamp(min.minimum, max.maximum);
        let fewest = max.minimum.max(cluster.auto_scaler_min);
        cluster.auto_scaler_max = cluster.auto_scaler_max.clamp(fewest, max.maximum);
        parameters.auto_scaler_min = Some(cluster.auto_scaler_min.into());
        parameters.auto_scaler_max = Some(cluster.auto_scaler_max.into());
    }
}

impl Catalog {
    /// Gives the next cluster of an instance the versions that a new one gets. A higher Kubernetes, which an upgrade has brought, stays.
    pub fn renew_versions(&self, resolved: &mut ResolvedOrder) {
        let Some(cluster) = &mut resolved.cluster else { return };
        let defaults = &self.defaults;
        if numbers(&defaults.kubernetes_version) > numbers(&cluster.kubernetes_version) {
            cluster.kubernetes_version.clone_from(&defaults.kubernetes_version);
        }
        cluster.machine_image.clone_from(&defaults.machine_image);
        cluster.machine_image_version.clone_from(&defaults.machine_image_version);
        cluster.kubernetes_auto_update = defaults.kubernetes_auto_update;
        cluster.machine_image_auto_update = defaults.machine_image_auto_update;
    }
}

/// The numbers of a version; none is lower than any.
fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|number| number.parse().ok()).collect()
}

fn expiration(update: &Update, active: Option<bool>) -> Result<(), Refusal> {
    if update.expired && active != Some(false) {
        let text = "context.active=false is required for expiration";
        return Err(Refusal::new(Rule::Expiration, "/expired", text));
    }
    Ok(())
}
