//! The fields that Google, `OpenStack` and AWS add to a Shoot.

mod microsoft;

use serde_json::json;

use super::sent;
use crate::checking::tests::samples;

#[test]
fn google_has_one_subnet_and_a_zone_for_the_control_plane() {
    let spec = &sent(samples::gcp())["spec"];

    assert_eq!(spec["cloudProfileName"], "gcp");
    assert_eq!(spec["networking"], json!({"type": "calico", "nodes": "10.250.0.0/22"}));
    let api = "gcp.provider.extensions.gardener.cloud/v1alpha1";
    assert_eq!(
        spec["provider"],
        json!({
            "type": "gcp",
            "controlPlaneConfig": {
                "kind": "ControlPlaneConfig",
                "apiVersion": api,
                "zone": "europe-west3-a",
            },
            "infrastructureConfig": {
                "kind": "InfrastructureConfig",
                "apiVersion": api,
                "networks": {"worker": "10.250.0.0/22", "workers": "10.250.0.0/22"},
            },
            "workers": [{
                "name": "cpu-worker-0",
                "machine": {"type": "n2-standard-4"},
                "minimum": 3,
                "maximum": 20,
                "maxSurge": 1,
                "maxUnavailable": 0,
                "volume": {"type": "pd-standard", "size": "50Gi"},
                "zones": ["europe-west3-a", "europe-west3-b"],
            }],
        })
    );
}

#[test]
fn openstack_has_a_profile_of_its_own_and_no_volume() {
    let spec = &sent(samples::openstack())["spec"];

    assert_eq!(spec["cloudProfileName"], "converged-cloud-kyma");
    assert_eq!(spec["networking"], json!({"type": "calico", "nodes": "10.250.0.0/22"}));
    let api = "openstack.provider.extensions.gardener.cloud/v1alpha1";
    assert_eq!(
        spec["provider"],
        json!({
            "type": "openstack",
            "controlPlaneConfig": {
                "kind": "ControlPlaneConfig",
                "apiVersion": api,
                "loadBalancerProvider": "f5",
            },
            "infrastructureConfig": {
                "kind": "InfrastructureConfig",
                "apiVersion": api,
                "floatingPoolName": "FloatingIP-external-kyma-01",
                "networks": {"worker": "", "workers": "10.250.0.0/22"},
            },
            "workers": [{
                "name": "cpu-worker-0",
                "machine": {"type": "g_c4_m16"},
                "minimum": 3,
                "maximum": 20,
                "maxSurge": 1,
                "maxUnavailable": 0,
                "zones": ["eu-de-1a"],
            }],
        })
    );
}

#[test]
fn aws_has_three_subnets_in_every_zone() {
    let mut request = samples::aws();
    let zones = &mut request.cluster.provider_config.aws.as_mut().unwrap().zones;
    zones.push(Some(samples::second_aws_zone()));

    let provider = &sent(request)["spec"]["provider"];

    assert_eq!(
        provider["infrastructureConfig"]["networks"]["zones"][1],
        json!({
            "name": "eu-central-1b",
            "internal": "10.250.112.0/20",
            "public": "10.250.96.0/20",
            "workers": "10.250.64.0/19",
        })
    );
    assert_eq!(provider["workers"][0]["zones"], json!(["eu-central-1a", "eu-central-1b"]));
}
