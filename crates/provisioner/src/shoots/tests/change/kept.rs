//! Fields of a live Shoot that stay, and fields that are replaced whole.

use serde_json::json;

use super::{
    super::{change, made, patched},
    patch, workers,
};
use crate::{
    checking::tests::samples::{self, checked},
    configuration::Provider,
};

#[test]
fn what_upgrade_shoot_may_not_change_is_left_alone() {
    let nothing = patch(|configuration| {
        let cluster = &mut configuration.cluster;
        cluster.target_secret = "other".into();
        cluster.worker_cidr = "10.0.0.0/8".into();
        cluster.exposure_class_name = Some("other".into());
        cluster.control_plane_failure_tolerance = Some("node".into());
        cluster.eu_access = false;
        cluster.dns = Some(samples::dns());
        cluster.seed = Some("other".into());
        let Provider::Aws(aws) = &mut cluster.provider_config else { panic!("it is on AWS") };
        aws.vpc_cidr = "10.0.0.0/8".into();
        aws.zones.push(samples::second_aws_zone());
    });

    assert_eq!(nothing, None);
}

#[test]
fn who_vouches_for_users_is_replaced_whole() {
    let mut configuration = checked(samples::gcp());
    configuration.cluster.oidc = Some(samples::oidc());
    let mut live = made(&configuration);
    let server = &mut live.spec.kubernetes.as_mut().unwrap().rest["kubeAPIServer"];
    server["oidcConfig"]["groupsPrefix"] = json!("sap:");
    configuration.cluster.oidc.as_mut().unwrap().client_id = "other".into();

    let patch = change(&live, &configuration);
    configuration.cluster.oidc = None;
    let left_alone = change(&live, &configuration);

    let oidc = json!({"groupsPrefix": null, "clientID": "other"});
    let spec = json!({"kubernetes": {"kubeAPIServer": {"oidcConfig": oidc}}});
    assert_eq!(patch, Some(json!({"spec": spec})));
    assert_eq!(left_alone, None);
}

#[test]
fn other_pools_and_extensions_survive() {
    let mut configuration = checked(samples::gcp());
    let mut live = made(&configuration);
    let other_pool = json!({"name": "gpu", "machine": {"type": "a2"}, "minimum": 0, "maximum": 2});
    workers(&mut live).push(other_pool.clone());
    workers(&mut live)[0]["labels"] = json!({"mine": "yes"});
    let extensions = live.spec.rest["extensions"].as_array_mut().unwrap();
    extensions[2]["providerConfig"] = json!({"egressFilter": {"blackholingEnabled": true}});
    extensions.push(json!({"type": "registry-cache"}));
    configuration.cluster.machine_type = "n2-standard-8".into();
    configuration.cluster.networking_filter_disabled = false;

    let patch = change(&live, &configuration).unwrap();
    let mut after = patched(&live, &patch);

    let extensions = &after.spec.rest["extensions"];
    assert_eq!(
        extensions[2],
        json!({
            "type": "shoot-networking-filter",
            "disabled": false,
            "providerConfig": {"egressFilter": {"blackholingEnabled": true}},
        })
    );
    assert_eq!(extensions[3], json!({"type": "registry-cache"}));
    assert_eq!(extensions.as_array().unwrap().len(), 4);
    let pools = workers(&mut after);
    assert_eq!(pools[0]["machine"]["type"], "n2-standard-8");
    assert_eq!(pools[0]["labels"], json!({"mine": "yes"}));
    assert_eq!(pools[1..], [other_pool]);
}

#[test]
fn a_filter_that_is_missing_is_added() {
    let configuration = checked(samples::gcp());
    let mut live = made(&configuration);
    live.spec.rest.shift_remove("extensions");

    let patch = change(&live, &configuration);

    let extensions = json!([{"type": "shoot-networking-filter", "disabled": true}]);
    assert_eq!(patch, Some(json!({"spec": {"extensions": extensions}})));
}

#[test]
fn a_shoot_without_pools_gets_none() {
    let configuration = checked(samples::gcp());
    let mut live = made(&configuration);
    workers(&mut live).clear();

    assert_eq!(change(&live, &configuration), None);
}
