//! What upgradeShoot may change of the gateway of Azure.

use super::{
    super::samples::{self, checked},
    refusal, upgraded,
};
use crate::{checking::upgrade_shoot, configuration::Provider, requests::UpgradeShoot};

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
