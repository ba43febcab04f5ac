//! Amazon: one network, of the Shoot or there before it, with subnets in each zone.

use cluster::Cause;
use serde_json::Value;

use super::{super::unsupported, Config, immutable, list, text};

/// What a zone has, which never changes.
const SUBNETS: [&str; 4] = ["name", "public", "internal", "workers"];

/// Names what is wrong.
pub(super) fn check(config: &Config<'_>, causes: &mut Vec<Cause>) {
    let networks = &config.infrastructure()["networks"];
    let zones = list(networks, "/zones");
    if zones.is_empty() {
        let why = "must specify at least the networks for one zone";
        causes.push(Cause::required("networks.zones", why));
    }
    let why = match (text(networks, "/vpc/id"), text(networks, "/vpc/cidr")) {
        (None, None) => Some("must specify either a vpc id or a cidr"),
        (Some(_), Some(_)) => Some("cannot specify both vpc id and cidr"),
        _ => None,
    };
    causes.extend(why.map(|why| Cause::invalid("networks.vpc", "aws.VPC{…}", why)));
    let old = config.before("infrastructureConfig").map(|old| &old["networks"]);
    let before = old.map(|old| list(old, "/zones")).unwrap_or_default();
    names(config, zones, before, causes);
    if let Some(old) = old {
        update(old, networks, causes);
    }
}

fn names(config: &Config<'_>, zones: &[Value], before: &[Value], causes: &mut Vec<Cause>) {
    for (place, zone) in zones.iter().enumerate().filter(|(place, z)| before.get(*place) != Some(z))
    {
        let at = format!("spec.provider.infrastructureConfig.network.zones[{place}].name");
        let name = text(zone, "/name").unwrap_or_default();
        if !config.zones().contains(&name) {
            causes.push(unsupported(at.clone(), name, config.zones()));
        }
        if zones[..place].iter().any(|other| other["name"] == zone["name"]) {
            let message = format!("Duplicate value: {name:?}");
            causes.push(Cause { reason: "FieldValueDuplicate", field: at, message });
        }
    }
}

fn update(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    for key in ["id", "cidr"] {
        let field = format!("networks.vpc.{key}");
        immutable(field, &old["vpc"][key], &new["vpc"][key], causes);
    }
    let (before, now) = (list(old, "/zones"), list(new, "/zones"));
    if before.len() > now.len() {
        causes.push(Cause::forbidden("networks.zones", "removing zones is not allowed"));
        return;
    }
    for (place, (before, now)) in before.iter().zip(now).enumerate() {
        for key in SUBNETS {
            let field = format!("networks.zones[{place}].{key}");
            immutable(field, &before[key], &now[key], causes);
        }
    }
}
