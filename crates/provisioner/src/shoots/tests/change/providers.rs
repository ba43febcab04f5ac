//! Changes of what only one provider has: zones, gateways, networks.

use serde_json::json;

use super::{
    super::{change, made, patched},
    infrastructure, workers,
};
use crate::{
    checking::tests::samples::{self, checked},
    configuration::Provider,
};

#[test]
fn new_zones_come_last_and_none_goes() {
    let mut configuration = checked(samples::gcp());
    let mut live = made(&configuration);
    workers(&mut live)[0]["zones"] = json!(["europe-west3-b", "europe-west3-a"]);
    let Provider::Gcp(gcp) = &mut configuration.cluster.provider_config else { panic!("GCP") };
    gcp.zones.push("europe-west3-c".into());

    let mut after = patched(&live, &change(&live, &configuration).unwrap());

    let zones = json!(["europe-west3-b", "europe-west3-a", "europe-west3-c"]);
    assert_eq!(workers(&mut after)[0]["zones"], zones);
}

#[test]
fn a_gateway_keeps_its_public_addresses() {
    let mut request = samples::azure_own();
    samples::edit_azure(&mut request).nat_gateway = Some(samples::nat(true, None));
    let mut configuration = checked(request);
    let mut live = made(&configuration);
    let addresses = json!([{"name": "ip-1", "resourceGroup": "mine"}]);
    infrastructure(&mut live)["networks"]["zones"][0]["natGateway"]["ipAddresses"] =
        addresses.clone();
    let Provider::Azure(azure) = &mut configuration.cluster.provider_config else { panic!() };
    azure.nat_gateway = Some(samples::nat(true, Some(30)));

    let mut after = patched(&live, &change(&live, &configuration).unwrap());

    let zones = &infrastructure(&mut after)["networks"]["zones"];
    let first = json!({
        "enabled": true,
        "idleConnectionTimeoutMinutes": 30,
        "ipAddresses": addresses,
    });
    assert_eq!(zones[0]["natGateway"], first);
    let second = json!({"enabled": true, "idleConnectionTimeoutMinutes": 30});
    assert_eq!(zones[1]["natGateway"], second);
}

#[test]
fn a_gateway_goes_when_it_is_switched_off_and_stays_when_nothing_is_said() {
    for mut request in [samples::azure_shared(), samples::azure_own()] {
        samples::edit_azure(&mut request).nat_gateway = Some(samples::nat(true, None));
        let live = made(&checked(request.clone()));
        samples::edit_azure(&mut request).nat_gateway = None;
        let nothing = change(&live, &checked(request.clone()));
        samples::edit_azure(&mut request).nat_gateway = Some(samples::nat(false, None));

        let patch = change(&live, &checked(request.clone())).unwrap();

        assert_eq!(nothing, None);
        samples::edit_azure(&mut request).nat_gateway = None;
        assert_eq!(patched(&live, &patch), made(&checked(request)));
    }
}

#[test]
fn the_network_of_microsoft_grows_around_its_nodes() {
    let live = made(&checked(samples::azure()));
    let mut request = samples::azure();
    samples::edit_azure(&mut request).vnet_cidr = "10.250.0.0/16".into();

    let patch = change(&live, &checked(request));

    let networks = json!({"networks": {"vnet": {"cidr": "10.250.0.0/16"}}});
    assert_eq!(patch, Some(json!({"spec": {"provider": {"infrastructureConfig": networks}}})));
}

#[test]
fn the_subnet_of_google_grows_with_the_network_of_its_nodes() {
    let configuration = checked(samples::gcp());
    let live = made(&configuration);
    let with = |cidr: &str| {
        let mut wanted = configuration.clone();
        wanted.cluster.worker_cidr = cidr.into();
        change(&live, &wanted)
    };

    let patch = with("10.250.0.0/20").unwrap();

    let spec = json!({
        "networking": {"nodes": "10.250.0.0/20"},
        "provider": {"infrastructureConfig": {"networks": {
            "worker": "10.250.0.0/20",
            "workers": "10.250.0.0/20",
        }}},
    });
    assert_eq!(patch, json!({"spec": spec}));
    assert_eq!(with("10.250.0.0/23"), None, "another client has made it wider");
}
