//! Google: one subnet for all zones, which may grow.

use cluster::Cause;
use serde_json::Value;

use super::{
    super::{network, unsupported},
    Config, immutable, list, text,
};

const FIELD: &str = "spec.provider.infrastructureConfig.networks";
const ZONE: &str = "spec.provider.controlPlaneConfig.zone";

/// Names what is wrong.
pub(super) fn check(config: &Config<'_>, causes: &mut Vec<Cause>) {
    let networks = &config.infrastructure()["networks"];
    let (key, workers) = subnet(networks);
    if workers.is_none() {
        let why = "must specify the network range for the worker network";
        causes.push(Cause::required(format!("{FIELD}.workers"), why));
    }
    zone(config, causes);
    if let Some(old) = config.before("infrastructureConfig") {
        let (_, before) = subnet(&old["networks"]);
        if workers.is_some() && !network::holds(workers, before) {
            let why = "worker CIDR blocks can only be expanded";
            causes.push(Cause::invalid(format!("{FIELD}.{key}"), workers.unwrap_or_default(), why));
        }
    }
    if let Some(old) = config.before("controlPlaneConfig") {
        let new = config.of("controlPlaneConfig");
        immutable(ZONE.to_owned(), &old["zone"], &new["zone"], causes);
    }
}

/// The subnet of the machines, under its newer or its older name.
fn subnet(networks: &Value) -> (&'static str, Option<&str>) {
    match text(networks, "/workers") {
        Some(workers) => ("workers", Some(workers)),
        None => ("worker", text(networks, "/worker")),
    }
}

/// Where the control plane has its disks.
fn zone(config: &Config<'_>, causes: &mut Vec<Cause>) {
    let zone = text(config.of("controlPlaneConfig"), "/zone").unwrap_or_default();
    if zone.is_empty() {
        causes.push(Cause::required(ZONE, "must provide the name of a zone in this region"));
    } else if !config.zones().contains(&zone) {
        causes.push(unsupported(ZONE, zone, config.zones()));
    }
    let mut pools = list(config.shoot, "/spec/provider/workers").iter();
    if !pools.any(|pool| list(pool, "/zones").iter().any(|it| it == zone)) {
        causes.push(Cause::invalid(ZONE, zone, "must be part of at least one worker zone"));
    }
}
