//! The fields that Azure adds to a Shoot.

use serde_json::{Value, json};

use super::super::sent;
use crate::{checking::tests::samples, configuration::NatGateway, requests::Provision};

fn azure(mut request: Provision, nat: Option<NatGateway>) -> Value {
    samples::edit_azure(&mut request).nat_gateway = nat;
    sent(request)["spec"].clone()
}

fn azure_networks(networks: &Value, zoned: bool) -> Value {
    json!({
        "kind": "InfrastructureConfig",
        "apiVersion": "azure.provider.extensions.gardener.cloud/v1alpha1",
        "networks": networks,
        "zoned": zoned,
    })
}

#[test]
fn microsoft_has_its_own_profile_and_the_whole_network_for_nodes() {
    let spec = azure(samples::azure_own(), None);

    assert_eq!(spec["cloudProfileName"], "az");
    assert_eq!(spec["networking"], json!({"type": "calico", "nodes": "10.250.0.0/20"}));
    assert_eq!(spec["provider"]["type"], "azure");
    assert_eq!(
        spec["provider"]["controlPlaneConfig"],
        json!({
            "kind": "ControlPlaneConfig",
            "apiVersion": "azure.provider.extensions.gardener.cloud/v1alpha1",
        })
    );
}

#[test]
fn microsoft_without_zones_has_no_gateway() {
    for nat in [None, Some(samples::nat(false, None))] {
        let provider = &azure(samples::azure(), nat)["provider"];

        let networks = json!({"vnet": {"cidr": "10.250.0.0/20"}, "workers": "10.250.0.0/20"});
        assert_eq!(provider["infrastructureConfig"], azure_networks(&networks, false));
        assert_eq!(provider["workers"][0].get("zones"), None);
    }
}

#[test]
fn microsoft_with_shared_zones_has_one_gateway() {
    let plain = json!({"vnet": {"cidr": "10.250.0.0/20"}, "workers": "10.250.0.0/20"});
    let with = |minutes: i32| {
        let mut networks = plain.clone();
        networks["natGateway"] = json!({"enabled": true, "idleConnectionTimeoutMinutes": minutes});
        networks
    };
    let cases = [
        (None, plain.clone()),
        (Some(samples::nat(false, Some(10))), plain.clone()),
        (Some(samples::nat(true, None)), with(4)),
        (Some(samples::nat(true, Some(10))), with(10)),
    ];

    for (nat, networks) in cases {
        let provider = &azure(samples::azure_shared(), nat)["provider"];

        assert_eq!(provider["infrastructureConfig"], azure_networks(&networks, true));
        assert_eq!(provider["workers"][0]["zones"], json!(["1", "2"]));
    }
}

#[test]
fn microsoft_with_own_subnets_has_a_gateway_in_every_zone() {
    let networks = |gateway: Option<i32>| {
        let mut zones = json!([
            {"name": 1, "cidr": "10.250.0.0/23"},
            {"name": 3, "cidr": "10.250.2.0/23"},
        ]);
        for zone in zones.as_array_mut().unwrap() {
            if let Some(minutes) = gateway {
                zone["natGateway"] =
                    json!({"enabled": true, "idleConnectionTimeoutMinutes": minutes});
            }
        }
        json!({"vnet": {"cidr": "10.250.0.0/20"}, "zones": zones})
    };
    let cases = [
        (None, networks(None)),
        (Some(samples::nat(false, None)), networks(None)),
        (Some(samples::nat(true, None)), networks(Some(4))),
        (Some(samples::nat(true, Some(10))), networks(Some(10))),
    ];

    for (nat, networks) in cases {
        let mut request = samples::azure_own();
        // Zones with subnets win over the older list.
        samples::edit_azure(&mut request).zones = Some(vec!["2".into()]);
        let provider = &azure(request, nat)["provider"];

        assert_eq!(provider["infrastructureConfig"], azure_networks(&networks, true));
        assert_eq!(provider["workers"][0]["zones"], json!(["1", "3"]));
    }
}
