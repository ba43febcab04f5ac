//! What upgradeShoot may change of GCP.

use super::{
    super::samples::{self, checked},
    AT, CHANGE, upgraded,
};
use crate::{
    checking::upgrade_shoot,
    configuration::{Gcp, Provider},
    requests::UpgradeShoot,
};

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
