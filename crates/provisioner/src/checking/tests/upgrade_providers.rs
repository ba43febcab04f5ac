//! What upgradeShoot may change of what only one provider has: rules of every provider.

mod azure_gateway;
mod azure_network;
mod fixed;
mod gcp;

use clients::gardener::{Features, Shoot};

use super::samples::{self, checked};
use crate::{
    checking::upgrade_shoot,
    configuration::{Configuration, Provider},
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
