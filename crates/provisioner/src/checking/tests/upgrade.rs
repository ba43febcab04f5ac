//! What upgradeShoot may change of every cluster, field by field.

use clients::gardener::{Features, Shoot};
use serde_json::json;

use super::samples::{self, checked};
use crate::{
    checking::upgrade_shoot,
    configuration::{Cluster, Configuration, Oidc},
    error::Code,
    requests::UpgradeShoot,
    shoots::{Owner, Rules, build},
};

fn stored() -> Configuration {
    let mut request = samples::aws();
    request.cluster.control_plane_failure_tolerance = Some("zone".into());
    request.cluster.exposure_class_name = Some("internet".into());
    checked(request)
}

fn live(configuration: &Configuration) -> Shoot {
    let owner = Owner { tenant: "ga", subaccount: "sa", runtime_id: "r", operation_id: "o" };
    build(configuration, &owner, &Rules::default(), &Features::oldest())
}

fn upgraded(request: UpgradeShoot) -> Cluster {
    let stored = stored();
    upgrade_shoot(&stored, Some(&live(&stored)), request).unwrap().cluster
}

fn refusal(request: UpgradeShoot) -> String {
    let stored = stored();
    let error = upgrade_shoot(&stored, Some(&live(&stored)), request).unwrap_err();
    assert_eq!(error.code, Code::BadRequest);
    error.message
}

#[test]
fn what_is_absent_stays_except_for_administrators() {
    let mut stored = stored();
    stored.kyma = None;

    let after = upgrade_shoot(&stored, Some(&live(&stored)), UpgradeShoot::default()).unwrap();

    assert_eq!(after.cluster, stored.cluster);
    assert_eq!(after.entry, stored.entry);
    assert_eq!(stored.administrators, ["ada@example.org"]);
    assert!(after.administrators.is_empty());
}

#[test]
fn every_field_that_is_filled_stays_when_nothing_is_said_about_it() {
    let mut stored = stored();
    let some = |text: &str| Some(text.to_owned());
    let cluster = &mut stored.cluster;
    cluster.machine_image = some("gardenlinux");
    cluster.machine_image_version = some("1443.3.0");
    cluster.pods_cidr = some("10.64.0.0/11");
    cluster.services_cidr = some("10.96.0.0/13");
    cluster.licence_type = some("partner");
    cluster.dns = Some(samples::dns());
    cluster.seed = some("aws-eu1");
    cluster.oidc = Some(samples::oidc());
    cluster.exposure_class_name = some("internet");
    cluster.control_plane_failure_tolerance = some("zone");
    cluster.kubernetes_auto_update = true;
    cluster.machine_image_auto_update = true;
    let empty: Vec<String> = serde_json::to_value(&stored.cluster)
        .unwrap()
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| value.is_null())
        .map(|(name, _)| name.clone())
        .collect();
    assert!(empty.is_empty(), "fill these too: {empty:?}");

    for live in [Some(live(&stored)), None] {
        let after = upgrade_shoot(&stored, live.as_ref(), UpgradeShoot::default()).unwrap();

        assert_eq!(after.cluster, stored.cluster);
        assert_eq!((after.kyma, after.entry), (stored.kyma.clone(), stored.entry.clone()));
    }
}

#[test]
fn administrators_are_those_who_are_named() {
    let request = UpgradeShoot { administrators: vec!["bob".into()], ..UpgradeShoot::default() };

    let after = upgrade_shoot(&stored(), None, request).unwrap();

    assert_eq!(after.administrators, ["bob"]);
}

#[test]
fn each_field_that_may_be_changed_is_changed_alone() {
    type Case = (fn(&mut UpgradeShoot), fn(&mut Cluster));
    let cases: &[Case] = &[
        (
            |r| r.kubernetes_version = Some("1.26.0".into()),
            |c| c.kubernetes_version = "1.26.0".into(),
        ),
        (|r| r.machine_type = Some("m6.large".into()), |c| c.machine_type = "m6.large".into()),
        (|r| r.volume_size_gb = Some(80), |c| c.volume_size_gb = Some(80)),
        (|r| r.disk_type = Some("io1".into()), |c| c.disk_type = Some("io1".into())),
        (|r| r.auto_scaler_min = Some(1), |c| c.auto_scaler_min = 1),
        (|r| r.auto_scaler_max = Some(40), |c| c.auto_scaler_max = 40),
        (|r| r.max_surge = Some(5), |c| c.max_surge = 5),
        (|r| r.max_unavailable = Some(2), |c| c.max_unavailable = 2),
        (|r| r.machine_image = Some("suse".into()), |c| c.machine_image = Some("suse".into())),
        (|r| r.purpose = Some("production".into()), |c| c.purpose = Some("production".into())),
        (|r| r.kubernetes_auto_update = Some(true), |c| c.kubernetes_auto_update = true),
        (|r| r.machine_image_auto_update = Some(true), |c| c.machine_image_auto_update = true),
        (|r| r.oidc = Some(samples::oidc()), |c| c.oidc = Some(samples::oidc())),
        (|r| r.networking_filter_disabled = Some(false), |c| c.networking_filter_disabled = false),
    ];

    for (ask, expect) in cases {
        let mut request = UpgradeShoot::default();
        ask(&mut request);
        let mut expected = stored().cluster;
        expect(&mut expected);
        assert_eq!(upgraded(request), expected);
    }
}

#[test]
fn what_cannot_be_changed_may_be_named_as_it_is() {
    let request = UpgradeShoot {
        target_secret: Some("aws-sec".into()),
        worker_cidr: Some("10.250.0.0/16".into()),
        exposure_class_name: Some("internet".into()),
        ..UpgradeShoot::default()
    };

    let after = upgraded(request);

    assert_eq!(after, stored().cluster);
}

#[test]
fn what_cannot_be_changed_is_refused_with_the_reason() {
    let asked = |ask: fn(&mut UpgradeShoot)| {
        let mut request = UpgradeShoot::default();
        ask(&mut request);
        refusal(request)
    };

    let secret = asked(|request| request.target_secret = Some("other".into()));
    let network = asked(|request| request.worker_cidr = Some("10.250.0.0/17".into()));
    let class = asked(|request| request.exposure_class_name = Some("other".into()));

    assert_eq!(
        secret,
        "gardenerConfig.targetSecret cannot be changed from \"aws-sec\" to \"other\": a cluster \
         stays in the account it was made in"
    );
    assert_eq!(
        network,
        "gardenerConfig.workerCidr cannot be changed from \"10.250.0.0/16\" to \
         \"10.250.0.0/17\": Gardener 1.65 and the extensions of the providers refuse it"
    );
    assert_eq!(
        class,
        "gardenerConfig.exposureClassName cannot be changed from \"internet\" to \"other\": \
         Gardener treats it as immutable"
    );
}

#[test]
fn empty_texts_are_refused_in_the_words_and_order_of_the_reference() {
    let empty = || Some(String::new());
    let mut request = UpgradeShoot { purpose: empty(), ..UpgradeShoot::default() };
    let mut messages = vec![refusal(request.clone())];
    request.disk_type = empty();
    messages.push(refusal(request.clone()));
    request.kubernetes_version = empty();
    messages.push(refusal(request.clone()));
    request.machine_type = empty();
    messages.push(refusal(request));

    let names = ["purpose", "disk type", "kubernetes version", "machine type"];
    assert_eq!(messages, names.map(|name| format!("empty {name} provided")));
}

#[test]
fn changed_values_obey_the_rules_for_new_ones() {
    type Case = (fn(&mut UpgradeShoot), &'static str);
    let cases: &[Case] = &[
        (|r| r.auto_scaler_min = Some(0), "gardenerConfig.autoScalerMin must be at least 1"),
        (
            |r| r.auto_scaler_min = Some(11),
            "gardenerConfig.autoScalerMax must be at least autoScalerMin: 10 is less than 11",
        ),
        (|r| r.max_surge = Some(-1), "gardenerConfig.maxSurge must not be negative"),
        (|r| r.volume_size_gb = Some(0), "gardenerConfig.volumeSizeGB must be at least 1"),
        (
            |r| r.kubernetes_version = Some("new".into()),
            "gardenerConfig.kubernetesVersion \"new\" is not a version such as 1.32.4",
        ),
        (
            |r| r.purpose = Some("fun".into()),
            "gardenerConfig.purpose must be one of evaluation, testing, development, production, \
             not \"fun\"",
        ),
        (|r| r.administrators = vec![String::new()], "administrators[0] must not be empty"),
    ];

    for (ask, message) in cases {
        let mut request = UpgradeShoot::default();
        ask(&mut request);
        assert_eq!(refusal(request), *message);
    }
}

#[test]
fn an_issuer_that_is_stored_is_no_reason_to_refuse_another_change() {
    let mut stored = stored();
    let issuer = Oidc { issuer_url: "https://issuer.example.org?a=b".into(), ..samples::oidc() };
    stored.cluster.oidc = Some(issuer.clone());
    let change = |oidc: Oidc| {
        let oidc = Some(oidc);
        let request = UpgradeShoot { auto_scaler_max: Some(9), oidc, ..UpgradeShoot::default() };
        upgrade_shoot(&stored, None, request)
    };
    let named = |issuer_url: &str| Oidc { issuer_url: issuer_url.into(), ..issuer.clone() };

    let same = change(issuer.clone()).unwrap().cluster;
    let other_client = change(Oidc { client_id: "other".into(), ..issuer.clone() }).unwrap();
    let no_client = change(Oidc { client_id: String::new(), ..issuer.clone() }).unwrap_err();
    let other = change(named("https://issuer.example.org?a=c")).unwrap_err();

    assert_eq!((same.auto_scaler_max, same.oidc.as_ref()), (9, Some(&issuer)));
    assert_eq!(other_client.cluster.oidc.unwrap().client_id, "other");
    assert!(no_client.message.ends_with("clientID must not be empty"), "{no_client:?}");
    assert!(other.message.ends_with("issuerURL must not contain a query"), "{other:?}");
}

#[test]
fn what_gardener_raised_by_itself_is_kept() {
    let mut stored = stored();
    stored.cluster.machine_image = Some("gardenlinux".into());
    stored.cluster.machine_image_version = Some("1443.3.0".into());
    let mut shoot = live(&stored);
    shoot.spec.kubernetes.as_mut().unwrap().version = Some("1.25.16".into());
    let pool = &mut shoot.spec.provider.as_mut().unwrap().workers[0];
    pool["machine"]["image"]["version"] = json!("1443.10.0");

    let lower = UpgradeShoot {
        kubernetes_version: Some("1.24.9".into()),
        machine_image_version: Some("1443.9.0".into()),
        ..UpgradeShoot::default()
    };
    for request in [UpgradeShoot::default(), lower] {
        let after = upgrade_shoot(&stored, Some(&shoot), request).unwrap().cluster;

        assert_eq!(after.kubernetes_version, "1.25.16");
        assert_eq!(after.machine_image_version.as_deref(), Some("1443.10.0"));
    }
}

#[test]
fn a_lower_version_of_kubernetes_than_the_stored_one_is_not_taken() {
    let request = UpgradeShoot {
        kubernetes_version: Some("1.24.9".into()),
        auto_scaler_max: Some(12),
        ..UpgradeShoot::default()
    };

    let after = upgrade_shoot(&stored(), None, request).unwrap().cluster;

    assert_eq!((after.kubernetes_version.as_str(), after.auto_scaler_max), ("1.25.6", 12));
}

#[test]
fn versions_of_an_image_only_go_up() {
    let mut stored = stored();
    stored.cluster.machine_image = Some("gardenlinux".into());
    stored.cluster.machine_image_version = Some("1443.10.0".into());
    let shoot = live(&stored);
    let version = |version: &str| UpgradeShoot {
        machine_image_version: Some(version.into()),
        ..UpgradeShoot::default()
    };

    let higher = upgrade_shoot(&stored, Some(&shoot), version("1443.11.0")).unwrap().cluster;
    let lower = upgrade_shoot(&stored, Some(&shoot), version("1443.9.0")).unwrap().cluster;
    let mut other = version("15.4.1");
    other.machine_image = Some("suse".into());
    let other = upgrade_shoot(&stored, Some(&shoot), other).unwrap().cluster;

    assert_eq!(higher.machine_image_version.as_deref(), Some("1443.11.0"));
    assert_eq!(lower.machine_image_version.as_deref(), Some("1443.10.0"));
    assert_eq!(other.machine_image_version.as_deref(), Some("15.4.1"));
}

#[test]
fn a_version_is_of_an_image_that_has_a_name() {
    let request = || UpgradeShoot {
        machine_image_version: Some("1443.3.0".into()),
        ..UpgradeShoot::default()
    };
    let stored = stored();
    let mut shoot = live(&stored);
    let nameless = upgrade_shoot(&stored, Some(&shoot), request()).unwrap_err();
    let pool = &mut shoot.spec.provider.as_mut().unwrap().workers[0];
    pool["machine"]["image"]["name"] = json!("gardenlinux");

    let chosen_by_gardener = upgrade_shoot(&stored, Some(&shoot), request()).unwrap().cluster;

    assert_eq!(nameless.message, "Machine Image Version passed while Machine Image is empty");
    assert_eq!(chosen_by_gardener.machine_image_version.as_deref(), Some("1443.3.0"));
}

#[test]
fn the_networking_filter_stays_as_the_shoot_has_it() {
    let stored = stored();
    let mut shoot = live(&stored);
    shoot.spec.rest["extensions"][2]["disabled"] = json!(false);

    let after = upgrade_shoot(&stored, Some(&shoot), UpgradeShoot::default()).unwrap().cluster;

    assert!(stored.cluster.networking_filter_disabled);
    assert!(!after.networking_filter_disabled);
}

#[test]
fn a_shoot_without_pools_is_nobodys_wish() {
    let stored = stored();
    let mut shoot = live(&stored);
    shoot.spec.provider.as_mut().unwrap().workers.clear();

    let error = upgrade_shoot(&stored, Some(&shoot), UpgradeShoot::default()).unwrap_err();

    assert_eq!(error.message, "no worker groups assigned to Gardener shoot 'c-7f3a91b'");
    assert_eq!(error.code, Code::Internal);
}

#[test]
fn openstack_has_no_disks_to_change() {
    let stored = checked(samples::openstack());
    let requests = [
        UpgradeShoot { disk_type: Some("ssd".into()), ..UpgradeShoot::default() },
        UpgradeShoot { volume_size_gb: Some(50), ..UpgradeShoot::default() },
    ];

    for request in requests {
        let error = upgrade_shoot(&stored, Some(&live(&stored)), request).unwrap_err();

        let text = "OpenStack mutation does not accept diskType or volumeSizeGb parameters";
        assert_eq!((error.message.as_str(), error.code), (text, Code::BadRequest));
    }
}
