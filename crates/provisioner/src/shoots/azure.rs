//! Microsoft: no zones, zones that share a subnet, or zones with a subnet each.
//!
//! What a reader would get wrong: where the NAT gateway stands depends on the kind of zones, and without zones
//! there is none, whatever was asked for.

use serde_json::{Value, json};

use super::{Part, json::at};
use crate::configuration::{Azure, NatGateway};

const API: &str = "azure.provider.extensions.gardener.cloud/v1alpha1";
/// After how many minutes an idle connection ends, by default.
const IDLE_MINUTES: i32 = 4;
const NAT: &str = "natGateway";

pub(super) fn part(azure: &Azure, worker_cidr: &str) -> Part {
    let mut infrastructure = json!({
        "kind": "InfrastructureConfig",
        "apiVersion": API,
        "networks": {"vnet": {"cidr": azure.vnet_cidr}},
        "zoned": true,
    });
    let networks = &mut infrastructure["networks"];
    if let Some(own) = &azure.azure_zones {
        networks["zones"] =
            own.iter().map(|zone| json!({"name": zone.name, "cidr": zone.cidr})).collect();
    } else {
        networks["workers"] = json!(worker_cidr);
        infrastructure["zoned"] = json!(azure.zones.is_some());
    }
    let zones = zones(&infrastructure, azure);
    if let Some(nat) = azure.nat_gateway {
        set_nat_gateway(&mut infrastructure, nat);
    }
    Part {
        profile: "az".into(),
        nodes: azure.vnet_cidr.clone(),
        control_plane: json!({"kind": "ControlPlaneConfig", "apiVersion": API}),
        infrastructure,
        zones,
    }
}

/// Brings the infrastructure of a live Shoot to what is wanted. Its subnets stay as they are.
pub(super) fn change(infrastructure: &mut Value, wanted: &Azure) {
    *at(infrastructure, &["networks", "vnet", "cidr"]) = json!(wanted.vnet_cidr);
    if let Some(nat) = wanted.nat_gateway {
        set_nat_gateway(infrastructure, nat);
    }
}

/// The zones that machines should stand in, as far as the infrastructure has them.
pub(super) fn zones(infrastructure: &Value, wanted: &Azure) -> Vec<String> {
    if shares_subnet(infrastructure) {
        wanted.zones.clone().unwrap_or_default()
    } else if own_subnets(infrastructure).is_some() {
        let names = wanted.azure_zones.iter().flatten().map(|zone| zone.name.to_string());
        names.collect()
    } else {
        vec![]
    }
}

/// Whether all zones share one subnet.
fn shares_subnet(infrastructure: &Value) -> bool {
    infrastructure["zoned"] == json!(true) && own_subnets(infrastructure).is_none()
}

fn own_subnets(infrastructure: &Value) -> Option<&Vec<Value>> {
    infrastructure["networks"]["zones"].as_array().filter(|zones| !zones.is_empty())
}

fn set_nat_gateway(infrastructure: &mut Value, nat: NatGateway) {
    if shares_subnet(infrastructure) {
        set_gateway(&mut infrastructure["networks"], nat);
    } else if own_subnets(infrastructure).is_some() {
        let zones = infrastructure["networks"]["zones"].as_array_mut();
        zones.into_iter().flatten().for_each(|zone| set_gateway(zone, nat));
    }
}

/// What else is set for a gateway, such as its public addresses, stays.
fn set_gateway(place: &mut Value, nat: NatGateway) {
    if nat.enabled {
        let minutes = nat.idle_minutes.unwrap_or(IDLE_MINUTES);
        *at(place, &[NAT, "enabled"]) = json!(true);
        *at(place, &[NAT, "idleConnectionTimeoutMinutes"]) = json!(minutes);
    } else if let Some(fields) = place.as_object_mut() {
        fields.shift_remove(NAT);
    }
}
