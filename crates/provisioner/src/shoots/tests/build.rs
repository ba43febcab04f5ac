//! Fields that are the same for all providers.

use clients::gardener::Features;
use serde_json::{Value, json};

use super::{OWNER, made, rules, sent};
use crate::{
    checking::tests::samples::{self, checked},
    shoots::{Rules, Window, build},
};

#[test]
fn the_order_of_the_documents_makes_the_shoot_of_the_documents() {
    let shoot = sent(samples::aws());

    let runtime = "0b9f6c52-6f53-4b39-8f0a-0f6d5f0f8f11";
    let operation = "3c0e6a0e-9a43-4f0e-8f0b-5f5ad6a2b7a1";
    let expected = json!({
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {
            "name": "c-7f3a91b",
            "namespace": "garden-demo",
            "labels": {"account": "ga-1", "subaccount": "sa-1"},
            "annotations": {
                "kcp.provisioner.kyma-project.io/runtime-id": runtime,
                "kcp.provisioner.kyma-project.io/operation-id": operation,
                "compass.provisioner.kyma-project.io/runtime-id": runtime,
                "compass.provisioner.kyma-project.io/operation-id": operation,
                "support.gardener.cloud/eu-access-for-cluster-nodes": "true",
            },
        },
        "spec": {
            "cloudProfileName": "aws",
            "region": "eu-central-1",
            "secretBindingName": "aws-sec",
            "purpose": "development",
            "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
            "kubernetes": {
                "version": "1.25.6",
                "enableStaticTokenKubeconfig": false,
                "kubeAPIServer": {"enableBasicAuthentication": false},
            },
            "maintenance": {
                "autoUpdate": {"kubernetesVersion": false, "machineImageVersion": false},
            },
            "extensions": [
                {
                    "type": "shoot-dns-service",
                    "providerConfig": {
                        "apiVersion": "service.dns.extensions.gardener.cloud/v1alpha1",
                        "kind": "DNSConfig",
                        "dnsProviderReplication": {"enabled": true},
                    },
                },
                {
                    "type": "shoot-cert-service",
                    "providerConfig": {
                        "apiVersion": "service.cert.extensions.gardener.cloud/v1alpha1",
                        "kind": "CertConfig",
                        "shootIssuers": {"enabled": true},
                    },
                },
                {"type": "shoot-networking-filter", "disabled": true},
            ],
            "provider": {
                "type": "aws",
                "controlPlaneConfig": {
                    "kind": "ControlPlaneConfig",
                    "apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1",
                },
                "infrastructureConfig": {
                    "kind": "InfrastructureConfig",
                    "apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1",
                    "networks": {
                        "vpc": {"cidr": "10.250.0.0/16"},
                        "zones": [{
                            "name": "eu-central-1a",
                            "internal": "10.250.48.0/20",
                            "public": "10.250.32.0/20",
                            "workers": "10.250.0.0/19",
                        }],
                    },
                },
                "workers": [{
                    "name": "cpu-worker-0",
                    "machine": {"type": "m5.xlarge"},
                    "minimum": 3,
                    "maximum": 10,
                    "maxSurge": 3,
                    "maxUnavailable": 0,
                    "volume": {"type": "gp3", "size": "50Gi"},
                    "zones": ["eu-central-1a"],
                }],
            },
        },
    });
    assert_eq!(shoot, expected);
}

#[test]
fn each_optional_field_has_its_place() {
    let mut request = samples::aws();
    let cluster = &mut request.cluster;
    cluster.licence_type = Some(String::new());
    cluster.eu_access = Some(false);
    cluster.seed = Some("aws-eu1".into());
    cluster.exposure_class_name = Some("internet".into());
    cluster.control_plane_failure_tolerance = Some("zone".into());
    cluster.pods_cidr = Some("100.96.0.0/11".into());
    cluster.services_cidr = Some("100.64.0.0/13".into());
    cluster.machine_image = Some("gardenlinux".into());
    cluster.machine_image_version = Some("1443.3.0".into());
    cluster.kubernetes_auto_update = Some(true);
    cluster.networking_filter_disabled = Some(false);
    cluster.oidc = Some(samples::oidc());
    cluster.dns = Some(samples::dns());

    let shoot = sent(request);

    let annotations = &shoot["metadata"]["annotations"];
    assert_eq!(annotations["kcp.provisioner.kyma-project.io/licence-type"], "");
    assert!(annotations.get("support.gardener.cloud/eu-access-for-cluster-nodes").is_none());
    let spec = &shoot["spec"];
    assert_eq!(spec["seedName"], "aws-eu1");
    assert_eq!(spec["exposureClassName"], "internet");
    let tolerance = json!({"highAvailability": {"failureTolerance": {"type": "zone"}}});
    assert_eq!(spec["controlPlane"], tolerance);
    assert_eq!(
        spec["networking"],
        json!({
            "type": "calico",
            "nodes": "10.250.0.0/16",
            "pods": "100.96.0.0/11",
            "services": "100.64.0.0/13",
        })
    );
    let image = json!({"name": "gardenlinux", "version": "1443.3.0"});
    assert_eq!(spec["provider"]["workers"][0]["machine"]["image"], image);
    let updates = json!({"kubernetesVersion": true, "machineImageVersion": false});
    assert_eq!(spec["maintenance"]["autoUpdate"], updates);
    assert_eq!(
        spec["extensions"][2],
        json!({"type": "shoot-networking-filter", "disabled": false})
    );
    assert_eq!(
        spec["kubernetes"]["kubeAPIServer"]["oidcConfig"],
        json!({
            "clientID": "client",
            "groupsClaim": "groups",
            "issuerURL": "https://issuer.example.org",
            "signingAlgs": ["RS256"],
            "usernameClaim": "sub",
            "usernamePrefix": "-",
        })
    );
    assert_eq!(
        spec["dns"],
        json!({
            "domain": "c-7f3a91b.kyma.example.org",
            "providers": [{
                "domains": {"include": ["kyma.example.org"]},
                "primary": true,
                "secretName": "route53",
                "type": "aws-route53",
            }],
        })
    );
}

#[test]
fn no_subaccount_is_an_empty_label() {
    let owner = crate::shoots::Owner { subaccount: "", ..OWNER };

    let shoot = build(&checked(samples::gcp()), &owner, &rules(), &Features::oldest());

    assert_eq!(shoot.metadata.labels.unwrap()["subaccount"], "");
}

#[test]
fn a_volume_needs_a_kind_and_a_size() {
    let mut configuration = checked(samples::aws());
    configuration.cluster.disk_type = None;

    let shoot = serde_json::to_value(made(&configuration)).unwrap();

    assert_eq!(shoot["spec"]["provider"]["workers"][0].get("volume"), None);
}

#[test]
fn auditors_have_their_policy() {
    let rules = Rules { audit_policy_config_map: Some("audit-policy".into()), ..rules() };

    let shoot = build(&checked(samples::gcp()), &OWNER, &rules, &Features::oldest());

    let server = &shoot.spec.kubernetes.unwrap().rest["kubeAPIServer"];
    let policy = json!({"auditPolicy": {"configMapRef": {"name": "audit-policy"}}});
    assert_eq!(server["auditConfig"], policy);
}

#[test]
fn only_production_has_the_window_of_its_region() {
    let window = |begin: &str| Window { begin: begin.into(), end: "230000+0000".into() };
    let windows = [
        ("europe-west3".to_owned(), window("220000+0000")),
        ("europe-west4".to_owned(), window("")),
    ];
    let rules = Rules { maintenance_windows: windows.into(), ..rules() };
    let maintenance = |purpose: &str, region: &str| -> Value {
        let mut configuration = checked(samples::gcp());
        configuration.cluster.purpose = Some(purpose.into());
        configuration.cluster.region = region.into();
        let shoot = build(&configuration, &OWNER, &rules, &Features::oldest());
        shoot.spec.rest["maintenance"]["timeWindow"].clone()
    };

    let begin_and_end = json!({"begin": "220000+0000", "end": "230000+0000"});
    assert_eq!(maintenance("production", "europe-west3"), begin_and_end);
    assert_eq!(maintenance("development", "europe-west3"), Value::Null);
    assert_eq!(maintenance("production", "europe-west4"), Value::Null);
    assert_eq!(maintenance("production", "us-east1"), Value::Null);
}
