//! What upgradeShoot may change of what only one provider has, provider by provider.

use clients::gardener::{Features, Shoot};
use serde_json::json;

use super::samples::{self, checked};
use crate::{
    checking::upgrade_shoot,
    configuration::{Azure, AzureZone, Configuration, Gcp, Provider},
    error::Code,
    requests::{ProviderConfig, Provision, UpgradeShoot},
    shoots::{Owner, Rules, build},
};

const CHANGE: &str = "Invalid gardener provider config change, ";
const AT: &str = "gardenerConfig.providerSpecificConfig";

fn live(configuration: &Configuration) -> Shoot {
    let owner = Owner { tenant: "ga", subaccount: "sa", runtime_id: "r", operation_id: "o" };
    build(configuration, &owner, &Rules::default(), &Features::oldest())
}

fn upgraded(
    made: Provision,
    change: impl FnOnce(&mut ProviderConfig),
) -> Result<Provider, crate::Error> {
    let mut config = made.cluster.provider_config.clone();
    change(&mut config);
    let stored = checked(made);
    let request = UpgradeShoot { provider_config: Some(config), ..UpgradeShoot::default() };
    let after = upgrade_shoot(&stored, Some(&live(&stored)), request)?;
    Ok(after.cluster.provider_config)
}

fn refusal(made: Provision, change: impl FnOnce(&mut ProviderConfig)) -> String {
    let error = upgraded(made, change).unwrap_err();
    assert_eq!(error.code, Code::BadRequest);
    error.message.strip_prefix(CHANGE).unwrap().replace(AT, "@")
}

#[test]
fn what_is_the_same_is_accepted_everywhere() {
    let orders = [
        samples::aws(),
        samples::azure(),
        samples::azure_shared(),
        samples::azure_own(),
        samples::gcp(),
        samples::openstack(),
    ];

    for made in orders {
        let stored = checked(made.clone()).cluster.provider_config;
        assert_eq!(upgraded(made, |_| ()), Ok(stored));
    }
}

#[test]
fn the_provider_stays() {
    let other = refusal(samples::aws(), |config| {
        *config = samples::gcp().cluster.provider_config;
    });
    let two = refusal(samples::aws(), |config| {
        config.gcp = samples::gcp().cluster.provider_config.gcp;
    });
    let none = refusal(samples::aws(), |config| *config = ProviderConfig::default());

    assert_eq!(other, "@.gcpConfig is not for a cluster on aws");
    assert_eq!(two, "@ must have exactly one member, not gcpConfig and awsConfig");
    assert_eq!(none, "provider config not specified");
}

#[test]
fn nothing_can_be_changed_on_aws() {
    let aws = |change: fn(&mut crate::requests::AwsConfig)| {
        let mut made = samples::aws();
        let zones = &mut made.cluster.provider_config.aws.as_mut().unwrap().zones;
        zones.push(Some(samples::second_aws_zone()));
        refusal(made, |config| change(config.aws.as_mut().unwrap()))
    };

    let network = aws(|aws| aws.vpc_cidr = "10.250.0.0/15".into());
    let more = aws(|aws| aws.zones[1].as_mut().unwrap().name = "eu-central-1c".into());
    let fewer = aws(|aws| drop(aws.zones.pop()));
    let twice = aws(|aws| aws.zones[1] = aws.zones[0].clone());
    let again = aws(|aws| aws.zones.push(aws.zones[0].clone()));
    let null = aws(|aws| aws.zones[1] = None);
    let workers = aws(|aws| aws.zones[0].as_mut().unwrap().worker_cidr = "10.1.0.0/19".into());
    let internal = aws(|aws| aws.zones[0].as_mut().unwrap().internal_cidr = "10.1.0.0/20".into());
    let public = aws(|aws| aws.zones[0].as_mut().unwrap().public_cidr = "10.1.0.0/20".into());

    let text = "cannot be changed from \"10.250.0.0/16\" to \"10.250.0.0/15\"";
    assert_eq!(network, format!("@.awsConfig.vpcCidr {text}"));
    let text = "extension of shoot network zones is not supported";
    assert_eq!(more, text);
    assert_eq!(again, text);
    let text = "removal of shoot network zones is not supported";
    assert_eq!(fewer, text);
    assert_eq!(twice, text);
    assert_eq!(null, "@.awsConfig.awsZones[1] must not be null");
    let text = "cannot change shoot network zone";
    assert_eq!(workers, format!("{text} workers CIDR from 10.250.0.0/19 to 10.1.0.0/19"));
    assert_eq!(internal, format!("{text} internal CIDR from 10.250.48.0/20 to 10.1.0.0/20"));
    assert_eq!(public, format!("{text} public CIDR from 10.250.32.0/20 to 10.1.0.0/20"));
}

#[test]
fn nothing_can_be_changed_on_openstack() {
    let openstack = |change: fn(&mut crate::requests::OpenStackConfig)| {
        refusal(samples::openstack(), |config| change(config.open_stack.as_mut().unwrap()))
    };

    let zones = openstack(|openstack| openstack.zones.push("eu-de-1b".into()));
    let pool = openstack(|openstack| openstack.floating_pool_name = Some("other".into()));
    let profile = openstack(|openstack| openstack.cloud_profile_name = Some("other".into()));
    let balancer = openstack(|openstack| openstack.load_balancer_provider = "other".into());

    let text = "cannot be changed from";
    let at = "@.openStackConfig";
    assert_eq!(zones, format!("{at}.zones {text} \"eu-de-1a\" to \"eu-de-1a, eu-de-1b\""));
    let stored = "\"FloatingIP-external-kyma-01\"";
    assert_eq!(pool, format!("{at}.floatingPoolName {text} {stored} to \"other\""));
    let stored = "\"converged-cloud-kyma\"";
    assert_eq!(profile, format!("{at}.cloudProfileName {text} {stored} to \"other\""));
    assert_eq!(balancer, format!("{at}.loadBalancerProvider {text} \"f5\" to \"other\""));
}

#[test]
fn zones_of_gcp_can_be_added_but_not_removed() {
    let gcp = |zones: &[&str]| {
        let zones = zones.iter().map(|zone| format!("europe-west3-{zone}")).collect();
        upgraded(samples::gcp(), |config| config.gcp.as_mut().unwrap().zones = zones)
    };

    let more = gcp(&["c", "b", "a"]);
    let fewer = gcp(&["a", "c"]).unwrap_err();
    let twice = gcp(&["a", "b", "b"]).unwrap_err();

    let zones = ["europe-west3-a", "europe-west3-b", "europe-west3-c"].map(String::from).to_vec();
    assert_eq!(more, Ok(Provider::Gcp(Gcp { zones })));
    let text = "must still have \"europe-west3-b\": Gardener removes no zone of a pool";
    assert_eq!(fewer.message, format!("{CHANGE}{AT}.gcpConfig.zones {text}"));
    let text = "\"europe-west3-b\" is there twice";
    assert_eq!(twice.message, format!("{AT}.gcpConfig.zones[2] {text}"));
}

#[test]
fn minutes_alone_are_for_the_gateway_of_azure_that_is_there() {
    let minutes = |made| {
        upgraded(made, |config| {
            let azure = config.azure.as_mut().unwrap();
            (azure.nat_gateway, azure.idle_minutes) = (None, Some(10));
        })
    };
    let mut made = samples::azure_own();
    samples::edit_azure(&mut made).nat_gateway = Some(samples::nat(true, None));

    let gateway = |changed| match changed {
        Ok(Provider::Azure(azure)) => azure.nat_gateway,
        other => panic!("{other:?}"),
    };

    assert_eq!(gateway(minutes(made)), Some(samples::nat(true, Some(10))));
    assert_eq!(gateway(minutes(samples::azure_own())), None);
}

#[test]
fn the_gateway_of_azure_can_be_switched() {
    for made in [samples::azure_shared(), samples::azure_own()] {
        for nat in [samples::nat(true, Some(10)), samples::nat(false, None)] {
            let after = upgraded(made.clone(), |config| {
                config.azure.as_mut().unwrap().nat_gateway = Some(nat);
            });

            let Ok(Provider::Azure(azure)) = after else { panic!("{after:?}") };
            assert_eq!(azure.nat_gateway, Some(nat));
        }
    }
}

#[test]
fn the_gateway_of_azure_needs_zones() {
    let on = Some(samples::nat(true, None));
    let message = refusal(samples::azure(), |config| {
        config.azure.as_mut().unwrap().nat_gateway = on;
    });
    // Older programs have taken it.
    let mut stored = checked(samples::azure());
    let Provider::Azure(azure) = &mut stored.cluster.provider_config else { panic!() };
    azure.nat_gateway = on;
    let mut config = samples::azure().cluster.provider_config;
    config.azure.as_mut().unwrap().nat_gateway = on;
    let request = UpgradeShoot { provider_config: Some(config), ..UpgradeShoot::default() };
    let same = upgrade_shoot(&stored, None, request);

    let text = "cannot be switched on: Gardener has NAT gateways only for clusters with zones";
    assert_eq!(message, format!("@.azureConfig.enableNatGateway {text}"));
    assert!(same.is_ok());
}

#[test]
fn what_azure_is_not_told_stays() {
    let mut made = samples::azure_own();
    samples::edit_azure(&mut made).nat_gateway = Some(samples::nat(true, Some(10)));
    let stored = checked(made.clone()).cluster.provider_config;

    let after = upgraded(made, |config| {
        let azure = config.azure.as_mut().unwrap();
        azure.azure_zones = None;
        azure.nat_gateway = None;
    });

    assert_eq!(after, Ok(stored));
}

#[test]
fn the_network_of_azure_can_only_grow() {
    let vnet = |cidr: &str| {
        upgraded(samples::azure(), |config| config.azure.as_mut().unwrap().vnet_cidr = cidr.into())
    };

    let wider = vnet("10.250.0.0/16");
    let other = vnet("10.251.0.0/20").unwrap_err();
    let none = vnet("10.250").unwrap_err();

    let grown = Azure { vnet_cidr: "10.250.0.0/16".into(), ..Azure::default() };
    assert_eq!(wider, Ok(Provider::Azure(grown)));
    let text = "cannot be changed from 10.250.0.0/20 to 10.251.0.0/20: its subnets are in use";
    assert_eq!(other.message, format!("{CHANGE}{AT}.azureConfig.vnetCidr {text}"));
    let text = "must be a network such as 10.250.0.0/16";
    assert_eq!(none.message, format!("{CHANGE}{AT}.azureConfig.vnetCidr {text}"));
}

#[test]
fn zones_of_azure_with_their_own_subnets_stay() {
    let azure = |change: fn(&mut Vec<AzureZone>)| {
        refusal(samples::azure_own(), |config| {
            change(config.azure.as_mut().unwrap().azure_zones.as_mut().unwrap());
        })
    };

    let more = azure(|zones| zones.push(AzureZone { name: 2, cidr: "10.250.4.0/23".into() }));
    let fewer = azure(|zones| drop(zones.pop()));
    let other = azure(|zones| zones[1].cidr = "10.250.4.0/23".into());
    let zoned = refusal(samples::azure(), |config| {
        config.azure = samples::azure_own().cluster.provider_config.azure;
    });

    let text = "extension of shoot network zones is not supported";
    assert_eq!(more, text);
    assert_eq!(zoned, text);
    let text = "removal of shoot network zones is not supported";
    assert_eq!(fewer, text);
    let text = "cannot change shoot network zone CIDR from 10.250.2.0/23 to 10.250.4.0/23";
    assert_eq!(other, text);
}

#[test]
fn zones_that_were_added_in_the_shoot_can_be_named() {
    let made = samples::azure_own();
    let stored = checked(made.clone());
    let mut shoot = live(&stored);
    let provider = shoot.spec.provider.as_mut().unwrap();
    let zones = provider.rest["infrastructureConfig"]["networks"]["zones"].as_array_mut().unwrap();
    zones.push(json!({"name": 2, "cidr": "10.250.4.0/23"}));
    let mut config = made.cluster.provider_config;
    let asked = config.azure.as_mut().unwrap().azure_zones.as_mut().unwrap();
    asked.push(AzureZone { name: 2, cidr: "10.250.4.0/23".into() });
    let request = UpgradeShoot { provider_config: Some(config), ..UpgradeShoot::default() };

    let after = upgrade_shoot(&stored, Some(&shoot), request).unwrap().cluster;

    let Provider::Azure(azure) = after.provider_config else { panic!("it is on Azure") };
    assert_eq!(azure.azure_zones.unwrap().len(), 3);
}

#[test]
fn zones_of_azure_that_share_a_subnet_can_be_added_but_not_removed() {
    let azure = |made: Provision, zones: &[&str]| {
        let zones = zones.iter().map(|zone| (*zone).into()).collect();
        upgraded(made, |config| config.azure.as_mut().unwrap().zones = Some(zones))
    };

    let more = azure(samples::azure_shared(), &["1", "2", "3"]);
    let fewer = azure(samples::azure_shared(), &["1"]).unwrap_err();
    let zoned = azure(samples::azure(), &["1"]).unwrap_err();

    let Ok(Provider::Azure(more)) = more else { panic!("{more:?}") };
    assert_eq!(more.zones, Some(["1", "2", "3"].map(String::from).to_vec()));
    let text = "must still have \"2\": Gardener removes no zone of a pool";
    assert_eq!(fewer.message, format!("{CHANGE}{AT}.azureConfig.zones {text}"));
    let text = "extension of shoot network zones is not supported";
    assert_eq!(zoned.message, format!("{CHANGE}{text}"));
}

#[test]
fn the_subnet_of_nodes_on_gcp_can_only_grow() {
    let stored = checked(samples::gcp());
    let after = |cidr: &str| {
        let request = UpgradeShoot { worker_cidr: Some(cidr.into()), ..UpgradeShoot::default() };
        upgrade_shoot(&stored, None, request).map(|after| after.cluster.worker_cidr)
    };

    for fits in ["10.250.0.0/22", "10.250.0.0/20"] {
        assert_eq!(after(fits), Ok(fits.to_owned()));
    }
    for other in ["10.250.0.0/23", "10.251.0.0/22"] {
        let refused = after(other).unwrap_err().message;
        let text = "gardenerConfig.workerCidr cannot be changed from";
        assert!(refused.starts_with(text), "{refused}");
    }
}

#[test]
fn nodes_and_zones_are_looked_at_only_when_they_change() {
    let mut stored = checked(samples::gcp());
    // Older programs have taken it.
    (stored.cluster.auto_scaler_min, stored.cluster.auto_scaler_max) = (1, 1);
    let change = |most| UpgradeShoot {
        auto_scaler_max: most,
        purpose: Some("production".into()),
        ..UpgradeShoot::default()
    };

    upgrade_shoot(&stored, None, change(None)).unwrap();
    upgrade_shoot(&stored, None, change(Some(1))).unwrap();
    stored.cluster.auto_scaler_max = 3;
    let refused = upgrade_shoot(&stored, None, change(Some(1))).unwrap_err();

    let rule = "must be at least the number of zones: 1 is less than 2";
    assert_eq!(refused.message, format!("gardenerConfig.autoScalerMax {rule}"));
}
