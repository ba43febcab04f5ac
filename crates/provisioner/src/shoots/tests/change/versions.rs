//! Versions of Kubernetes in a change: never lowered, and without what newer ones forbid.

use serde_json::json;

use super::{
    super::{change, made, patched},
    workers,
};
use crate::checking::tests::samples::{self, checked};

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
