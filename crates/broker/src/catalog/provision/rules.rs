//! Rules that a schema cannot express.

use std::collections::HashSet;

use domain::{
    parameters::{Cluster, Provisioning, Update},
    plan::Provider,
};

use crate::catalog::{
    Catalog, Plan, PlatformRegion, Refusal, Rule,
    data::{ClusterData, Range},
    resolve::PURPOSES,
};

/// AWS networks are cut for this many zones.
const MOST_ZONES: usize = 4;
/// Where numbers of nodes come from that neither the order nor the runtime says.
const PLAN: &str = "plan defaults";

/// No administrator is empty: the Reconciler would refuse it after the cluster was made.
pub(in crate::catalog) fn administrators(named: Option<&[String]>) -> Result<(), Refusal> {
    let empty = named.into_iter().flatten().position(|person| person.trim().is_empty());
    let Some(at) = empty else { return Ok(()) };
    let (field, text) = (format!("/administrators/{at}"), format!("administrators.{at}: is empty"));
    Err(Refusal::new(Rule::Administrators, &field, text))
}

/// Checks the numbers of nodes that Gardener refuses for every plan.
pub(in crate::catalog) fn nodes(parameters: &Provisioning) -> Result<(), Refusal> {
    let refuse = |field: &str, text: &str| Err(Refusal::new(Rule::Nodes, field, text));
    if parameters.max_surge == Some(0) && parameters.max_unavailable.unwrap_or_default() == 0 {
        return refuse("/maxSurge", "maxSurge and maxUnavailable must not both be 0");
    }
    if parameters.volume_size_gb == Some(0) {
        return refuse("/volumeSizeGb", "volumeSizeGb: must be at least 1");
    }
    Ok(())
}

/// The numbers of nodes that a change names fit the runtime that there is: the number that it leaves out, and the zones.
pub(in crate::catalog) fn nodes_of(
    cluster: &Cluster,
    plan: Range,
    update: &Update,
) -> Result<(), Refusal> {
    let (min, max) = (update.auto_scaler_min, update.auto_scaler_max);
    if min.is_none() && max.is_none() {
        return Ok(());
    }
    let there = Range { min: cluster.auto_scaler_min, max: cluster.auto_scaler_max };
    let is_plan = (there.min, there.max) == (plan.min, plan.max);
    between(there, if is_plan { PLAN } else { "the runtime has" }, min, max)?;
    max.map_or(Ok(()), |most| room_in_zones(most, cluster.zones.len()))
}

/// The fewest nodes are not more than the most; what is left out comes from the plan.
pub(in crate::catalog) fn auto_scaler(
    plan: Range,
    min: Option<i64>,
    max: Option<i64>,
) -> Result<(), Refusal> {
    between(plan, PLAN, min, max)
}

/// The same; what is left out comes from `range`, which is called `named`.
fn between(range: Range, named: &str, min: Option<i64>, max: Option<i64>) -> Result<(), Refusal> {
    let lowest = min.unwrap_or_else(|| i64::from(range.min));
    let highest = max.unwrap_or_else(|| i64::from(range.max));
    if lowest <= highest {
        return Ok(());
    }
    let word = |value: Option<i64>| value.map_or("<nil>".to_owned(), |value| value.to_string());
    let text = format!(
        "AutoScalerMax {highest} should be larger than AutoScalerMin {lowest}. User provided values \
         min:{}, max:{}; {named} min:{}, max:{}",
        word(min),
        word(max),
        range.min,
        range.max
    );
    let given = [("/autoScalerMin", min), ("/autoScalerMax", max)];
    let fields =
        given.into_iter().filter(|(_, value)| value.is_some()).map(|(field, _)| field.to_owned());
    Err(Refusal { rule: Rule::AutoScaler, fields: fields.collect(), description: text })
}

/// Gardener needs room for one node in every zone.
fn room_in_zones(most: i64, zones: usize) -> Result<(), Refusal> {
    if usize::try_from(most).is_ok_and(|most| most >= zones) {
        return Ok(());
    }
    let text = format!(
        "autoScalerMax: {most} nodes are too few for {zones} zones, each zone needs room for one"
    );
    Err(Refusal::new(Rule::Nodes, "/autoScalerMax", text))
}

/// A plan of fixed size takes no other size; saying the plan's own is harmless.
fn fixed_size(
    plan: &Plan,
    cluster: &ClusterData,
    nodes: Range,
    parameters: &Provisioning,
) -> Result<(), Refusal> {
    let refuse = |field: &str, only: String| {
        let text = format!("{field}: plan {} offers only {only}", plan.name());
        Err(Refusal::new(Rule::FixedSize, &format!("/{field}"), text))
    };
    let machine = &cluster.machine_type.value;
    if parameters.machine_type.as_ref().is_some_and(|asked| !asked.is_empty() && asked != machine) {
        return refuse("machineType", machine.clone());
    }
    if parameters.auto_scaler_min.is_some_and(|asked| asked != i64::from(nodes.min)) {
        return refuse("autoScalerMin", nodes.min.to_string());
    }
    if parameters.auto_scaler_max.is_some_and(|asked| asked != i64::from(nodes.max)) {
        return refuse("autoScalerMax", nodes.max.to_string());
    }
    match (parameters.volume_size_gb, cluster.volume_size_gb) {
        (Some(asked), Some(size)) if asked != size => refuse("volumeSizeGb", size.to_string()),
        _ => Ok(()),
    }
}

/// A cluster is for something that Gardener knows.
pub(super) fn purpose(purpose: Option<&str>) -> Result<(), Refusal> {
    match purpose {
        Some(purpose) if !purpose.is_empty() && !PURPOSES.contains(&purpose) => {
            let words = PURPOSES.map(|word| format!("\"{word}\"")).join(", ");
            let text = format!("purpose: purpose must be one of the following: {words}");
            Err(Refusal::new(Rule::Purpose, "/purpose", text))
        }
        _ => Ok(()),
    }
}

impl Catalog {
    /// How many nodes there are unless an order says otherwise.
    pub(in crate::catalog) fn nodes(&self, plan: &Plan, provider: Option<Provider>) -> Range {
        let Some(cluster) = provider.and_then(|provider| plan.cluster(provider)) else {
            return Range { min: 0, max: 0 };
        };
        match self.defaults.trial_nodes {
            Some(nodes) if nodes > 0 && plan.kind() == domain::plan::Kind::Trial => {
                Range { min: nodes, max: nodes }
            }
            _ => cluster.nodes.value,
        }
    }

    pub(in crate::catalog) fn sizes(
        &self,
        plan: &Plan,
        provider: Option<Provider>,
        parameters: &Provisioning,
    ) -> Result<(), Refusal> {
        match provider.and_then(|provider| plan.cluster(provider)) {
            Some(cluster) if plan.kind().has_fixed_size() => {
                fixed_size(plan, cluster, self.nodes(plan, provider), parameters)
            }
            _ => Ok(()),
        }
    }

    /// Zones that an order names lie in its region, once each, and not too many. Azure's are the same everywhere, and
    /// those it does not have are left out.
    pub(super) fn zones(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        provider: Option<Provider>,
        parameters: &Provisioning,
    ) -> Result<(), Refusal> {
        let (Some(provider), Some(zones)) = (provider, &parameters.zones) else { return Ok(()) };
        let Some(cluster) = plan.cluster(provider) else { return Ok(()) };
        if !cluster.zones.value.chosen || provider == Provider::Azure {
            return Ok(());
        }
        let refuse = |field: &str, text: String| Err(Refusal::new(Rule::Zones, field, text));
        if zones.len() > MOST_ZONES {
            return refuse("/zones", format!("zones: there can be at most {MOST_ZONES}"));
        }
        let region = self.region(plan, place, provider, cluster, parameters);
        let mut seen = HashSet::new();
        for (index, zone) in zones.iter().enumerate() {
            let field = format!("/zones/{index}");
            if !zone.starts_with(&region) || zone.len() <= region.len() {
                return refuse(&field, format!("zones.{index}: not a zone of region {region}"));
            }
            if !seen.insert(zone) {
                return refuse(&field, format!("zones.{index}: named twice"));
            }
        }
        Ok(())
    }

    /// There is room for one node in every zone. Plans of fixed size have it.
    pub(super) fn node_per_zone(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        provider: Option<Provider>,
        parameters: &Provisioning,
    ) -> Result<(), Refusal> {
        let Some(provider) = provider.filter(|_| !plan.kind().has_fixed_size()) else {
            return Ok(());
        };
        let Some(cluster) = plan.cluster(provider) else { return Ok(()) };
        let region = self.region(plan, place, provider, cluster, parameters);
        // The random number decides which zones are drawn, not how many.
        let zones = self.zones_of(place, provider, cluster, parameters, &region, [0; 16]).len();
        let default = i64::from(self.nodes(plan, Some(provider)).max);
        room_in_zones(parameters.auto_scaler_max.unwrap_or(default), zones)
    }
}
