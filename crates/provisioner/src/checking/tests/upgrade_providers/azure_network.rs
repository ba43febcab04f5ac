//! What upgradeShoot may change of the network and the zones of Azure.

use serde_json::json;

use super::{
    super::samples::{self, checked},
    AT, CHANGE, live, refusal, upgraded,
};
use crate::{
    checking::upgrade_shoot,
    configuration::{Azure, AzureZone, Provider},
    requests::{Provision, UpgradeShoot},
};

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
