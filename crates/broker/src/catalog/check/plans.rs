//! Plans: complete, unique, and made of what the providers have.

use std::{collections::HashSet, net::Ipv4Addr};

use domain::plan::{Accounts, Kind, Provider};
use serde_saphyr::Spanned;
use uuid::Uuid;

use super::{Catalog, Findings, files::PLANS};
use crate::catalog::{
    Plan,
    data::{ClusterData, EuRule},
    resolve::PURPOSES,
};

pub(super) fn all(catalog: &Catalog, findings: &mut Findings<'_>) {
    if catalog.plans.is_empty() {
        findings.key(PLANS, "plans", "there are no plans".into());
    }
    let (mut ids, mut names) = (HashSet::new(), HashSet::new());
    for plan in &catalog.plans {
        let (id, name) = (&plan.data().id, &plan.data().name);
        if Uuid::parse_str(&id.value).is_err() {
            findings.at(PLANS, id, format!("id \"{}\" is not a UUID", id.value));
        }
        if !ids.insert(&id.value) {
            findings.at(PLANS, id, format!("id \"{}\" belongs to two plans", id.value));
        }
        if name.value.is_empty() {
            findings.at(PLANS, name, "name is empty".into());
        }
        if !names.insert(&name.value) {
            findings.at(PLANS, name, format!("name \"{}\" belongs to two plans", name.value));
        }
        shape(plan, findings);
        nodes(plan, findings);
        upgrades(catalog, plan, findings);
        for (provider, cluster) in &plan.data().clusters {
            self::cluster(catalog, plan, *provider, cluster, findings);
        }
    }
}

/// A plan has what its kind needs, and nothing else.
fn shape(plan: &Plan, findings: &mut Findings<'_>) {
    let (data, name) = (plan.data(), plan.name());
    let mut says = |wrong: bool, rule: &str| {
        if wrong {
            findings.at(PLANS, &data.name, format!("plan \"{name}\" {rule}"));
        }
    };
    let sized = data.nodes.is_some() || data.clusters.values().any(|c| c.machine_types.is_some());
    let placed = data.clusters.values().all(|cluster| cluster.regions.is_some());
    let unplaced = data.clusters.values().all(|cluster| cluster.regions.is_none());
    let own = plan.kind() == Kind::OwnCluster;
    says(own != (plan.accounts() == Accounts::None), "needs accounts unless it is own_cluster");
    says(own != data.clusters.is_empty(), "needs clusters unless it is own_cluster");
    match plan.kind() {
        Kind::Managed => {
            let machines = data.clusters.values().all(|cluster| cluster.machine_types.is_some());
            says(data.clusters.len() != 1, "is managed and needs exactly one provider");
            says(data.nodes.is_none(), "is managed and needs nodes");
            says(!placed, "is managed and needs regions");
            says(!machines, "is managed and needs machineTypes");
        }
        Kind::Free => {
            says(sized, "is free: neither nodes nor machineTypes can be chosen");
            says(!placed, "is free and needs regions");
        }
        Kind::Trial => {
            says(sized, "is a trial: neither nodes nor machineTypes can be chosen");
            says(!unplaced, "is a trial: its regions are in regions.yaml");
        }
        Kind::OwnCluster => says(sized, "is own_cluster: there is nothing to choose"),
    }
}

/// An instance keeps its cluster when its plan changes, so that both plans pay alike and share a provider.
fn upgrades(catalog: &Catalog, plan: &Plan, findings: &mut Findings<'_>) {
    for target in &plan.data().upgradable_to {
        let name = &target.value;
        let Some(other) = catalog.plan_named(name) else {
            findings.at(PLANS, target, format!("upgradableTo: there is no plan \"{name}\""));
            continue;
        };
        let shares = plan.providers().any(|provider| other.cluster(provider).is_some());
        if other.id() == plan.id() {
            findings.at(PLANS, target, format!("upgradableTo: plan \"{name}\" is this plan"));
        } else if other.accounts() != plan.accounts() {
            let rule = format!("upgradableTo: plan \"{name}\" uses other accounts");
            findings.at(PLANS, target, rule);
        } else if !shares {
            let rule = format!("upgradableTo: plan \"{name}\" has none of its providers");
            findings.at(PLANS, target, rule);
        }
    }
}

fn nodes(plan: &Plan, findings: &mut Findings<'_>) {
    let Some(nodes) = plan.nodes() else { return };
    let (min, max) = (&nodes.min, &nodes.max);
    let mut inside = |default: &Spanned<u32>, from: u32, to: u32| {
        if !(from..=to).contains(&default.value) {
            let rule = format!("default {} is not between {from} and {to}", default.value);
            findings.at(PLANS, default, rule);
        }
    };
    inside(&min.default, min.minimum, max.maximum);
    inside(&max.default, max.minimum.max(min.default.value), max.maximum);
}

fn cluster(
    catalog: &Catalog,
    plan: &Plan,
    provider: Provider,
    cluster: &ClusterData,
    findings: &mut Findings<'_>,
) {
    places(catalog, plan, provider, cluster, findings);
    machines(catalog, provider, cluster, findings);
    for cidr in [Some(&cluster.worker_cidr), cluster.network_cidr.as_ref()].into_iter().flatten() {
        if !is_network(&cidr.value) {
            findings.at(PLANS, cidr, format!("\"{}\" is not a network", cidr.value));
        }
    }
    let (nodes, zones) = (&cluster.nodes, &cluster.zones);
    if nodes.value.min > nodes.value.max {
        findings.at(PLANS, nodes, "nodes: min is larger than max".into());
    }
    if !(1..=4).contains(&zones.value.count) || !(1..=4).contains(&zones.value.multi.unwrap_or(1)) {
        findings.at(PLANS, zones, "zones: there are one to four".into());
    }
    if let Some(purpose) = &cluster.purpose
        && !PURPOSES.contains(&purpose.as_str())
    {
        let rule = format!("purpose \"{purpose}\" is none of {}", PURPOSES.join(", "));
        findings.at(PLANS, &cluster.region, rule);
    }
}

fn places(
    catalog: &Catalog,
    plan: &Plan,
    provider: Provider,
    cluster: &ClusterData,
    findings: &mut Findings<'_>,
) {
    findings.region(catalog, PLANS, provider, &cluster.region);
    if let Some(choice) = &cluster.regions {
        for regions in [Some(&choice.regular), choice.eu_access.as_ref()].into_iter().flatten() {
            list(&cluster.region, "regions", regions, findings);
            for region in regions {
                findings.region(catalog, PLANS, provider, region);
            }
        }
    }
    let eu_region = catalog.eu_access.cluster_regions.contains_key(&provider);
    if cluster.eu_access != EuRule::Free && !eu_region {
        let rule = format!("euAccess needs a region of {provider} in eu-access.yaml");
        findings.at(PLANS, &cluster.region, rule);
    }
    for (area, regions) in &catalog.regions.trial.areas {
        if plan.kind() == Kind::Trial && !regions.contains_key(&provider) {
            let rule = format!("area \"{area}\" in regions.yaml has no region of {provider}");
            findings.at(PLANS, &cluster.region, rule);
        }
    }
}

fn machines(
    catalog: &Catalog,
    provider: Provider,
    cluster: &ClusterData,
    findings: &mut Findings<'_>,
) {
    let default = &cluster.machine_type;
    let choice = cluster.machine_types.as_ref();
    let listed =
        choice.into_iter().flat_map(|choice| choice.create.iter().chain(&choice.update_too));
    for machine in listed.chain([default]) {
        let data = catalog.providers.get(&provider);
        if !data.is_some_and(|data| data.machines.contains_key(&machine.value)) {
            let rule = format!("machine type \"{}\" is unknown to {provider}", machine.value);
            findings.at(PLANS, machine, rule);
        }
    }
    let Some(choice) = choice else { return };
    list(default, "machineTypes", &choice.create, findings);
    if !choice.create.iter().any(|machine| machine.value == default.value) {
        let rule = format!("machineType \"{}\" is not one that can be chosen", default.value);
        findings.at(PLANS, default, rule);
    }
}

/// A list that is published as a choice has something in it, and nothing twice.
fn list(
    near: &Spanned<String>,
    name: &str,
    words: &[Spanned<String>],
    findings: &mut Findings<'_>,
) {
    if words.is_empty() {
        findings.at(PLANS, near, format!("{name} is an empty list"));
    }
    let mut seen = HashSet::new();
    for word in words.iter().filter(|word| !seen.insert(&word.value)) {
        findings.at(PLANS, word, format!("{name} has \"{}\" twice", word.value));
    }
}

fn is_network(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, length)| {
        address.parse::<Ipv4Addr>().is_ok() && length.parse::<u8>().is_ok_and(|length| length <= 32)
    })
}
