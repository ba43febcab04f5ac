//! The fields of one provider.

use super::samples::{self, AT, checked, refusal};
use crate::{
    configuration::{Azure, OpenStack, Provider},
    requests::Provision,
};

fn message(mut request: Provision, change: impl FnOnce(&mut Provision)) -> String {
    change(&mut request);
    refusal(request).message.replace(&format!("{AT}.providerSpecificConfig"), "")
}

#[test]
fn two_providers_are_one_too_many() {
    let message = message(samples::aws(), |request| {
        request.cluster.provider_config.gcp = samples::gcp().cluster.provider_config.gcp;
    });

    assert_eq!(message, " must have exactly one member, not gcpConfig and awsConfig");
}

#[test]
fn there_is_a_zone_and_each_once() {
    let gcp = |zones: &[&str]| {
        message(samples::gcp(), |request| {
            let gcp = request.cluster.provider_config.gcp.as_mut().unwrap();
            gcp.zones = zones.iter().map(|zone| (*zone).into()).collect();
        })
    };
    let aws = |change: fn(&mut crate::requests::AwsConfig)| {
        message(samples::aws(), |request| {
            change(request.cluster.provider_config.aws.as_mut().unwrap());
        })
    };
    let openstack = message(samples::openstack(), |request| {
        request.cluster.provider_config.open_stack.as_mut().unwrap().zones.clear();
    });

    assert_eq!(gcp(&[]), ".gcpConfig.zones must have at least one zone");
    assert_eq!(gcp(&[""]), ".gcpConfig.zones[0] must not be empty");
    let twice = gcp(&["europe-west3-a", "europe-west3-a"]);
    assert_eq!(twice, ".gcpConfig.zones[1] \"europe-west3-a\" is there twice");
    assert_eq!(aws(|aws| aws.zones.clear()), ".awsConfig.awsZones must have at least one zone");
    assert_eq!(aws(|aws| aws.zones.push(None)), ".awsConfig.awsZones[1] must not be null");
    let twice = aws(|aws| aws.zones.push(aws.zones[0].clone()));
    assert_eq!(twice, ".awsConfig.awsZones[1].name \"eu-central-1a\" is there twice");
    assert_eq!(openstack, ".openStackConfig.zones must have at least one zone");
}

#[test]
fn zones_of_gcp_are_for_gardener_to_know() {
    let mut request = samples::gcp();
    request.cluster.provider_config.gcp.as_mut().unwrap().zones[1] = "zone-of-my-own".into();

    let Provider::Gcp(gcp) = checked(request).cluster.provider_config else { panic!() };

    assert_eq!(gcp.zones[1], "zone-of-my-own");
}

#[test]
fn azure_may_have_no_zones_and_no_empty_lists() {
    let mut request = samples::azure();
    samples::edit_azure(&mut request).zones = Some(vec![]);
    samples::edit_azure(&mut request).azure_zones = Some(vec![]);

    let config = checked(request).cluster.provider_config;

    let plain = Azure { vnet_cidr: "10.250.0.0/20".into(), ..Azure::default() };
    assert_eq!(config, Provider::Azure(plain));
}

#[test]
fn zones_and_gateways_of_azure_have_sensible_numbers() {
    let zero = message(samples::azure_own(), |request| {
        samples::edit_azure(request).azure_zones.as_mut().unwrap()[1].name = 0;
    });
    let twice = message(samples::azure_own(), |request| {
        samples::edit_azure(request).azure_zones.as_mut().unwrap()[1].name = 1;
    });
    let shared = message(samples::azure_shared(), |request| {
        samples::edit_azure(request).zones = Some(vec!["1".into(), "1".into()]);
    });
    let minutes = [3, 121].map(|minutes| {
        message(samples::azure_own(), |request| {
            samples::edit_azure(request).nat_gateway = Some(samples::nat(true, Some(minutes)));
        })
    });

    assert_eq!(zero, ".azureConfig.azureZones[1].name must be at least 1");
    assert_eq!(twice, ".azureConfig.azureZones[1].name \"1\" is there twice");
    assert_eq!(shared, ".azureConfig.zones[1] \"1\" is there twice");
    for message in minutes {
        let rule = "must be between 4 and 120";
        assert_eq!(message, format!(".azureConfig.idleConnectionTimeoutMinutes {rule}"));
    }
}

#[test]
fn openstack_has_defaults_of_its_own() {
    let config = checked(samples::openstack()).cluster.provider_config;
    let nobody = message(samples::openstack(), |request| {
        let config = request.cluster.provider_config.open_stack.as_mut().unwrap();
        config.load_balancer_provider.clear();
    });

    let filled = OpenStack {
        zones: vec!["eu-de-1a".into()],
        floating_pool_name: "FloatingIP-external-kyma-01".into(),
        cloud_profile_name: "converged-cloud-kyma".into(),
        load_balancer_provider: "f5".into(),
    };
    assert_eq!(config, Provider::OpenStack(filled));
    assert_eq!(nobody, ".openStackConfig.loadBalancerProvider must not be empty");
}

#[test]
fn a_gateway_of_azure_needs_zones() {
    let gateway = |mut request: Provision, enabled| {
        samples::edit_azure(&mut request).nat_gateway = Some(samples::nat(enabled, None));
        request
    };

    let refused = message(gateway(samples::azure(), true), |_| ());

    let text = "cannot be switched on: Gardener has NAT gateways only for clusters with zones";
    assert_eq!(refused, format!(".azureConfig.enableNatGateway {text}"));
    checked(gateway(samples::azure(), false));
    for zoned in [samples::azure_shared(), samples::azure_own()] {
        checked(gateway(zoned, true));
    }
}

#[test]
fn each_zone_has_room_for_a_node() {
    let most = |mut request: Provision, most: i32| {
        (request.cluster.auto_scaler_min, request.cluster.auto_scaler_max) = (Some(1), Some(most));
        request
    };

    for request in [samples::gcp(), samples::azure_shared(), samples::azure_own()] {
        checked(most(request.clone(), 2));
        let refused = refusal(most(request, 1)).message;
        let rule = "must be at least the number of zones: 1 is less than 2";
        assert_eq!(refused, format!("{AT}.autoScalerMax {rule}"));
    }
    checked(most(samples::azure(), 1));
}
