//! Which networks fit together.

use super::samples::{self, AT, checked, refusal};
use crate::requests::Provision;

fn message(mut request: Provision, change: impl FnOnce(&mut Provision)) -> String {
    change(&mut request);
    refusal(request).message.replace(&format!("{AT}."), "").replace("providerSpecificConfig.", "")
}

#[test]
fn a_network_is_written_as_one() {
    let unreadable =
        message(samples::gcp(), |request| request.cluster.worker_cidr = "10.250/16".into());
    let host =
        message(samples::gcp(), |request| request.cluster.worker_cidr = "10.250.0.1/22".into());

    assert_eq!(unreadable, "workerCidr must be a network such as 10.250.0.0/16");
    let text = "workerCidr must be a network, not a host in one; did you mean 10.250.0.0/22?";
    assert_eq!(host, text);
}

#[test]
fn nodes_are_inside_of_the_network_around_them() {
    let other = |request: &mut Provision| request.cluster.worker_cidr = "10.251.0.0/20".into();

    let azure = message(samples::azure(), other);

    let text = "workerCidr 10.251.0.0/20 must be inside of";
    assert_eq!(azure, format!("{text} azureConfig.vnetCidr, which is 10.250.0.0/20"));
}

#[test]
fn on_aws_only_the_subnets_of_the_zones_are_for_nodes() {
    let mut request = samples::aws();
    request.cluster.worker_cidr = "10.180.0.0/16".into();

    assert_eq!(checked(request).cluster.worker_cidr, "10.180.0.0/16");
}

#[test]
fn every_node_that_there_may_be_has_room_for_its_pods() {
    let with = |pods: &str, most: i32| {
        let mut request = samples::gcp();
        request.cluster.pods_cidr = Some(pods.into());
        (request.cluster.auto_scaler_min, request.cluster.auto_scaler_max) = (Some(2), Some(most));
        request
    };
    let refused = |pods: &str, most: i32| message(with(pods, most), |_| ());

    checked(with("100.112.0.0/22", 4));
    checked(with("100.0.0.0/8", 65_536));
    let tight = refused("100.112.0.0/22", 5);
    let none = refused("100.112.0.0/25", 2);

    let room = "with a /24 for the pods of each node there is room for";
    let text = "podsCidr 100.112.0.0/22 is too small for autoScalerMax";
    assert_eq!(tight, format!("{text}: {room} 4 nodes, not for 5"));
    let text = "podsCidr 100.112.0.0/25 is too small for autoScalerMax";
    assert_eq!(none, format!("{text}: {room} 0 nodes, not for 2"));
}

#[test]
fn subnets_of_zones_are_inside_and_apart() {
    let change = |change: fn(&mut crate::configuration::AwsZone)| {
        message(samples::aws(), |request| {
            let aws = request.cluster.provider_config.aws.as_mut().unwrap();
            change(aws.zones[0].as_mut().unwrap());
        })
    };

    let outside = change(|zone| zone.public_cidr = "10.251.0.0/20".into());
    let overlap = change(|zone| zone.internal_cidr = "10.250.16.0/20".into());
    let azure = message(samples::azure_own(), |request| {
        let zones = samples::edit_azure(request).azure_zones.as_mut().unwrap();
        zones[1].cidr = "10.250.1.0/24".into();
    });

    assert_eq!(
        outside,
        "awsConfig.awsZones[0].publicCidr 10.251.0.0/20 must be inside of awsConfig.vpcCidr, \
         which is 10.250.0.0/16"
    );
    assert_eq!(
        overlap,
        "awsConfig.awsZones[0].internalCidr 10.250.16.0/20 must not overlap with \
         awsConfig.awsZones[0].workerCidr, which is 10.250.0.0/19"
    );
    assert_eq!(
        azure,
        "azureConfig.azureZones[1].cidr 10.250.1.0/24 must not overlap with \
         azureConfig.azureZones[0].cidr, which is 10.250.0.0/23"
    );
}

#[test]
fn pods_services_and_nodes_are_apart() {
    let pods = message(samples::azure(), |request| {
        request.cluster.pods_cidr = Some("10.250.8.0/21".into());
    });
    let services = message(samples::gcp(), |request| {
        request.cluster.pods_cidr = Some("100.96.0.0/11".into());
        request.cluster.services_cidr = Some("100.104.0.0/13".into());
    });
    let mut request = samples::gcp();
    request.cluster.pods_cidr = Some("100.96.0.0/11".into());
    request.cluster.services_cidr = Some("100.64.0.0/13".into());

    let apart = checked(request).cluster;

    let text = "podsCidr 10.250.8.0/21 must not overlap with azureConfig.vnetCidr, which is";
    assert_eq!(pods, format!("{text} 10.250.0.0/20"));
    let text = "servicesCidr 100.104.0.0/13 must not overlap with podsCidr, which is 100.96.0.0/11";
    assert_eq!(services, text);
    assert_eq!(apart.services_cidr.as_deref(), Some("100.64.0.0/13"));
}
