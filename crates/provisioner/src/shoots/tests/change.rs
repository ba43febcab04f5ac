//! Changes of a live Shoot, and fields that stay.

use clients::gardener::Shoot;
use serde_json::{Value, json};

use super::{change, made, patched};
use crate::{
    checking::tests::samples::{self, checked},
    configuration::{Configuration, Provider},
};

/// The patch for one changed field of a cluster on AWS.
fn patch(edit: impl FnOnce(&mut Configuration)) -> Option<Value> {
    let mut configuration = checked(samples::aws());
    let live = made(&configuration);
    edit(&mut configuration);
    change(&live, &configuration)
}

fn infrastructure(shoot: &mut Shoot) -> &mut Value {
    shoot.spec.provider.as_mut().unwrap().rest.get_mut("infrastructureConfig").unwrap()
}

fn workers(shoot: &mut Shoot) -> &mut Vec<Value> {
    &mut shoot.spec.provider.as_mut().unwrap().workers
}

#[test]
fn nothing_is_changed_when_nothing_differs() {
    for request in [samples::aws(), samples::azure_own(), samples::gcp(), samples::openstack()] {
        let configuration = checked(request);

        assert_eq!(change(&made(&configuration), &configuration), None);
    }
}

#[test]
fn each_field_is_changed_in_its_place() {
    type Case = (fn(&mut Configuration), Value);
    let cases: Vec<Case> = vec![
        (
            |c| c.cluster.kubernetes_version = "1.26.0".into(),
            json!({"kubernetes": {"version": "1.26.0"}}),
        ),
        (|c| c.cluster.purpose = Some("production".into()), json!({"purpose": "production"})),
        (
            |c| c.cluster.kubernetes_auto_update = true,
            json!({"maintenance": {"autoUpdate": {"kubernetesVersion": true}}}),
        ),
        (
            |c| c.cluster.machine_image_auto_update = true,
            json!({"maintenance": {"autoUpdate": {"machineImageVersion": true}}}),
        ),
    ];

    for (edit, spec) in cases {
        assert_eq!(patch(edit), Some(json!({"spec": spec})));
    }
}

#[test]
fn each_field_of_the_pool_is_changed_in_its_place() {
    type Case = (fn(&mut Configuration), &'static str, Value);
    let cases: Vec<Case> = vec![
        (|c| c.cluster.machine_type = "m6.large".into(), "/machine/type", json!("m6.large")),
        (|c| c.cluster.volume_size_gb = Some(80), "/volume/size", json!("80Gi")),
        (|c| c.cluster.disk_type = Some("io1".into()), "/volume/type", json!("io1")),
        (|c| c.cluster.auto_scaler_min = 1, "/minimum", json!(1)),
        (|c| c.cluster.auto_scaler_max = 40, "/maximum", json!(40)),
        (|c| c.cluster.max_surge = 5, "/maxSurge", json!(5)),
        (|c| c.cluster.max_unavailable = 2, "/maxUnavailable", json!(2)),
    ];

    for (edit, place, value) in cases {
        let mut pool = workers(&mut made(&checked(samples::aws())))[0].clone();
        *pool.pointer_mut(place).unwrap() = value;
        let spec = json!({"provider": {"workers": [pool]}});
        assert_eq!(patch(edit), Some(json!({"spec": spec})));
    }
}

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
fn what_gardener_raised_by_itself_is_not_lowered() {
    let mut configuration = checked(samples::aws());
    configuration.cluster.machine_image = Some("gardenlinux".into());
    configuration.cluster.machine_image_version = Some("1443.3.0".into());
    let mut live = made(&configuration);
    live.spec.kubernetes.as_mut().unwrap().version = Some("1.25.16".into());
    workers(&mut live)[0]["machine"]["image"]["version"] = json!("1443.10.0");

    let nothing = change(&live, &configuration);
    configuration.cluster.machine_image = Some("suse".into());
    configuration.cluster.machine_image_version = Some("15.4.1".into());
    let other = patched(&live, &change(&live, &configuration).unwrap());

    assert_eq!(nothing, None);
    let image = &other.spec.provider.unwrap().workers[0]["machine"]["image"];
    assert_eq!(*image, json!({"name": "suse", "version": "15.4.1"}));
}

#[test]
fn what_newer_versions_forbid_goes() {
    let mut configuration = checked(samples::aws());
    let mut live = made(&configuration);
    let kubernetes = &mut live.spec.kubernetes.as_mut().unwrap().rest;
    kubernetes.insert("allowPrivilegedContainers".into(), json!(true));
    kubernetes.insert("enableStaticTokenKubeconfig".into(), json!(true));

    let same = change(&live, &configuration);
    configuration.cluster.kubernetes_version = "1.27.0".into();
    let newer = change(&live, &configuration);

    let kubernetes = json!({"allowPrivilegedContainers": null});
    assert_eq!(same, Some(json!({"spec": {"kubernetes": kubernetes}})));
    let kubernetes = json!({
        "allowPrivilegedContainers": null,
        "version": "1.27.0",
        "enableStaticTokenKubeconfig": false,
    });
    assert_eq!(newer, Some(json!({"spec": {"kubernetes": kubernetes}})));
}

#[test]
fn pod_security_policies_are_switched_off_once_and_only_where_there_are_any() {
    let mut configuration = checked(samples::aws());
    configuration.cluster.kubernetes_version = "1.24.9".into();
    let mut live = made(&configuration);
    let server = &mut live.spec.kubernetes.as_mut().unwrap().rest["kubeAPIServer"];
    server["admissionPlugins"] = json!([{"name": "Other"}]);

    let patch = change(&live, &configuration).unwrap();
    let again = change(&patched(&live, &patch), &configuration);

    let plugins = json!([{"name": "Other"}, {"name": "PodSecurityPolicy", "disabled": true}]);
    let spec = json!({"kubernetes": {"kubeAPIServer": {"admissionPlugins": plugins}}});
    assert_eq!(patch, json!({"spec": spec}));
    assert_eq!(again, None);
}

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
fn a_shoot_without_pools_gets_none() {
    let configuration = checked(samples::gcp());
    let mut live = made(&configuration);
    workers(&mut live).clear();

    assert_eq!(change(&live, &configuration), None);
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
