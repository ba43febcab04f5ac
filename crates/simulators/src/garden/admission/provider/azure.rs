//! Microsoft: one subnet for all machines, or one in each zone.

use cluster::Cause;
use serde_json::Value;

use super::{
    super::{network, unsupported},
    Config, immutable, list, text,
};

const FIELD: &str = "spec.provider.infrastructureConfig";

/// Names what is wrong.
pub(super) fn check(config: &Config<'_>, causes: &mut Vec<Cause>) {
    let infrastructure = config.infrastructure();
    let networks = &infrastructure["networks"];
    if infrastructure["resourceGroup"].is_object() {
        let why = "specifying an existing resource group is not supported yet";
        causes.push(Cause::invalid(
            format!("{FIELD}.resourceGroup"),
            "azure.ResourceGroup{…}",
            why,
        ));
    }
    let mut forbidden = |key: &str, why: &str| {
        causes.push(Cause::forbidden(format!("{FIELD}.networks.{key}"), why));
    };
    let zones = list(networks, "/zones");
    match (text(networks, "/workers"), zones.is_empty()) {
        (None, true) => forbidden("workers", "either workers or zones must be specified"),
        (Some(_), false) => {
            forbidden("workers", "workers and zones cannot be specified in parallel");
        }
        (None, false) => {
            let vnet = text(networks, "/vnet/cidr").or_else(|| text(networks, "/vnet/name"));
            if vnet.is_none() {
                let why = "a vnet cidr or vnet reference must be specified when the workers field is not set";
                forbidden("vnet.cidr", why);
            }
            if infrastructure["zoned"] != true {
                forbidden("zones", "cannot specify zones in an non-zonal cluster");
            }
            if !networks["natGateway"].is_null() {
                forbidden(
                    "workers",
                    "natGateway cannot be specified when workers field is missing",
                );
            }
        }
        (Some(_), true) => {}
    }
    names(config, zones, causes);
    if let Some(old) = config.before("infrastructureConfig") {
        update(old, infrastructure, causes);
    }
}

fn names(config: &Config<'_>, zones: &[Value], causes: &mut Vec<Cause>) {
    let before = config.before("infrastructureConfig");
    let before = before.map(|old| list(old, "/networks/zones")).unwrap_or_default();
    for (place, zone) in zones.iter().enumerate() {
        let at = format!("{FIELD}.networks.zones[{place}]");
        let name = zone["name"].to_string();
        if zones[..place].iter().any(|other| other["name"] == zone["name"]) {
            let why = "the same zone cannot be specified multiple times";
            causes.push(Cause::invalid(at.clone(), &name, why));
        }
        let is_old = before.iter().any(|other| other["name"] == zone["name"]);
        if !is_old && !config.zones().contains(&name.as_str()) {
            causes.push(unsupported(format!("{at}.name"), &name, config.zones()));
        }
    }
}

fn update(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    immutable(format!("{FIELD}.zoned"), &flag(old), &flag(new), causes);
    let field = |key: &str| format!("{FIELD}.networks.{key}");
    let (old, new) = (&old["networks"], &new["networks"]);
    let (before, now) = (list(old, "/zones"), list(new, "/zones"));
    match (before.is_empty(), now.is_empty()) {
        (true, true) => immutable(field("workers"), &old["workers"], &new["workers"], causes),
        (false, true) => {
            let why = "updating the infrastructure configuration from using dedicated subnets per zone to using single \
                       subnet is not allowed";
            causes.push(Cause::forbidden(field("worker"), why));
        }
        (true, false) if now.iter().all(|zone| zone["cidr"] != old["workers"]) => {
            let why = "when updating InfrastructureConfig to use dedicated subnets per zones, the CIDR for one of the \
                       zones must match that of the previous config.networks.workers";
            causes.push(Cause::forbidden(field("zones"), why));
        }
        (true, false) => {}
        (false, false) => {
            if before.len() > now.len() {
                causes.push(Cause::forbidden(field("zones"), "removing zones is not allowed"));
            }
            for (place, zone) in now.iter().enumerate() {
                if let Some(before) = before.iter().find(|other| other["name"] == zone["name"]) {
                    let at = field(&format!("zones[{place}].cidr"));
                    immutable(at, &before["cidr"], &zone["cidr"], causes);
                }
            }
        }
    }
    let (outer, inner) = (text(new, "/vnet/cidr"), text(old, "/vnet/cidr"));
    if inner.is_some() && !network::holds(outer, inner) {
        let why = "VNet CIDR blocks can only be expanded";
        causes.push(Cause::invalid(field("vnet.cidr"), outer.unwrap_or_default(), why));
    }
}

fn flag(infrastructure: &Value) -> Value {
    Value::Bool(infrastructure["zoned"] == true)
}
