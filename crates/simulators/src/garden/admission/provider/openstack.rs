//! `OpenStack`: pools of addresses and load balancers that the profile offers, and one subnet.

use cluster::Cause;

use super::{super::unsupported, Config, immutable, list, text};

const FIELD: &str = "spec.provider.infrastructureConfig";
const BALANCER: &str = "spec.provider.controlPlaneConfig.loadBalancerProvider";

/// Names what is wrong.
pub(super) fn check(config: &Config<'_>, causes: &mut Vec<Cause>) {
    let infrastructure = config.infrastructure();
    let networks = &infrastructure["networks"];
    if text(networks, "/workers").or_else(|| text(networks, "/worker")).is_none() {
        let why = "must specify the network range for the worker network";
        causes.push(Cause::required(format!("{FIELD}.networks.workers"), why));
    }
    let old = config.before("infrastructureConfig");
    let pool = text(infrastructure, "/floatingPoolName").unwrap_or_default();
    let offered = names(config, "floatingPools");
    if pool.is_empty() {
        let why = "must provide the name of a floating pool";
        causes.push(Cause::required(format!("{FIELD}.floatingPoolName"), why));
    } else if old.is_none() && !offered.iter().any(|pattern| fits(pattern, pool)) {
        causes.push(unsupported(format!("{FIELD}.floatingPoolName"), pool, offered));
    }
    let provider = text(config.of("controlPlaneConfig"), "/loadBalancerProvider");
    let before = config.before("controlPlaneConfig");
    let before = before.and_then(|old| text(old, "/loadBalancerProvider"));
    let offered = names(config, "loadBalancerProviders");
    match provider {
        None => {
            let why = "must provide the name of a load balancer provider";
            causes.push(Cause::required(BALANCER, why));
        }
        Some(provider) if before != Some(provider) && !offered.contains(&provider) => {
            causes.push(unsupported(BALANCER, provider, offered));
        }
        Some(_) => {}
    }
    let Some(old) = old else { return };
    for key in ["floatingPoolName", "floatingPoolSubnetName"] {
        immutable(format!("{FIELD}.{key}"), &old[key], &infrastructure[key], causes);
    }
    for key in ["id", "router", "worker", "workers"] {
        let field = format!("{FIELD}.networks.{key}");
        immutable(field, &old["networks"][key], &networks[key], causes);
    }
}

/// What the profile offers.
fn names<'a>(config: &Config<'a>, key: &str) -> Vec<&'a str> {
    let offered = list(config.profile, &format!("/spec/providerConfig/constraints/{key}")).iter();
    offered.filter_map(|one| text(one, "/name")).collect()
}

/// Whether a name fits one that may have a star at either end.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(start)) => name.contains(start.trim_start_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => pattern == name,
    }
}
