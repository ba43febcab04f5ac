//! Every provider: Gardener accepts what is made of a request, and has every field of it.

use provisioner::{
    configuration::{AzureZone, NatGateway, Oidc},
    requests::{self, AzureConfig, GcpConfig, OpenStackConfig, ProviderConfig},
};
use serde_json::{Value, json};

use crate::world::{World, aws, caller};

fn azure(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster = requests::Cluster {
        provider: "azure".into(),
        target_secret: "azure-free-1".into(),
        region: "westeurope".into(),
        machine_type: Some("Standard_D4_v3".into()),
        disk_type: Some("Standard_LRS".into()),
        worker_cidr: "10.250.0.0/20".into(),
        provider_config: ProviderConfig {
            azure: Some(AzureConfig {
                vnet_cidr: "10.250.0.0/20".into(),
                zones: None,
                azure_zones: Some(vec![
                    AzureZone { name: 1, cidr: "10.250.0.0/23".into() },
                    AzureZone { name: 3, cidr: "10.250.2.0/23".into() },
                ]),
                nat_gateway: Some(NatGateway { enabled: true, idle_minutes: None }),
                idle_minutes: None,
            }),
            ..ProviderConfig::default()
        },
        ..request.cluster
    };
    request
}

fn gcp(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster = requests::Cluster {
        provider: "gcp".into(),
        target_secret: "gcp-free-1".into(),
        region: "europe-west3".into(),
        machine_type: Some("n2-standard-4".into()),
        disk_type: Some("pd-standard".into()),
        worker_cidr: "10.250.0.0/22".into(),
        kubernetes_version: Some("1.31.4".into()),
        oidc: Some(Oidc {
            client_id: "9bd05ed7-a930-44e6-8c79-e6defeb7dec9".into(),
            groups_claim: "groups".into(),
            issuer_url: "https://issuer.example.org".into(),
            signing_algs: vec!["RS256".into()],
            username_claim: "sub".into(),
            username_prefix: "-".into(),
        }),
        control_plane_failure_tolerance: Some("zone".into()),
        provider_config: ProviderConfig {
            gcp: Some(GcpConfig { zones: vec!["europe-west3-a".into(), "europe-west3-b".into()] }),
            ..ProviderConfig::default()
        },
        ..request.cluster
    };
    request
}

fn openstack(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster = requests::Cluster {
        provider: "openstack".into(),
        target_secret: "openstack-free-1".into(),
        region: "eu-de-1".into(),
        machine_type: Some("g_c4_m16".into()),
        disk_type: None,
        volume_size_gb: None,
        worker_cidr: "10.250.0.0/22".into(),
        provider_config: ProviderConfig {
            open_stack: Some(OpenStackConfig {
                zones: vec!["eu-de-1a".into()],
                floating_pool_name: None,
                cloud_profile_name: None,
                load_balancer_provider: "f5".into(),
            }),
            ..ProviderConfig::default()
        },
        ..request.cluster
    };
    request
}

/// The fields of `expected` that are not in `found`.
fn missing(expected: &Value, found: &Value, path: &str) -> Vec<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .flat_map(|(key, value)| {
                let found = found.get(key).unwrap_or(&Value::Null);
                missing(value, found, &format!("{path}.{key}"))
            })
            .collect(),
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => expected
            .iter()
            .zip(found)
            .enumerate()
            .flat_map(|(at, (expected, found))| missing(expected, found, &format!("{path}[{at}]")))
            .collect(),
        _ if expected == found => Vec::new(),
        _ => vec![format!("{path}: {expected} expected, {found} found")],
    }
}

/// Requests, what their Shoots hold, and what their machines are.
fn table() -> [(requests::Provision, Value, Value); 4] {
    let version = |kind: &str| format!("{kind}.provider.extensions.gardener.cloud/v1alpha1");
    [
        (
            aws("p-aws"),
            json!({
                "cloudProfileName": "aws",
                "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
                "provider": {"type": "aws", "infrastructureConfig": {
                    "apiVersion": version("aws"), "kind": "InfrastructureConfig",
                    "networks": {"vpc": {"cidr": "10.250.0.0/16"}, "zones": [{
                        "name": "eu-central-1a", "internal": "10.250.48.0/20",
                        "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                    }]},
                }},
            }),
            json!({"machine": {"type": "m5.xlarge"}, "zones": ["eu-central-1a"],
                   "volume": {"type": "gp3", "size": "50Gi"}}),
        ),
        (
            azure("p-azure"),
            json!({
                "cloudProfileName": "az",
                "networking": {"type": "calico", "nodes": "10.250.0.0/20"},
                "provider": {"type": "azure", "infrastructureConfig": {
                    "apiVersion": version("azure"), "kind": "InfrastructureConfig", "zoned": true,
                    "networks": {"vnet": {"cidr": "10.250.0.0/20"}, "zones": [
                        {"name": 1, "cidr": "10.250.0.0/23",
                         "natGateway": {"enabled": true, "idleConnectionTimeoutMinutes": 4}},
                        {"name": 3, "cidr": "10.250.2.0/23",
                         "natGateway": {"enabled": true, "idleConnectionTimeoutMinutes": 4}},
                    ]},
                }},
            }),
            json!({"machine": {"type": "Standard_D4_v3"}, "zones": ["1", "3"]}),
        ),
        (
            gcp("p-gcp"),
            json!({
                "cloudProfileName": "gcp",
                "networking": {"type": "calico", "nodes": "10.250.0.0/22"},
                "kubernetes": {"kubeAPIServer": {"oidcConfig": {
                    "clientID": "9bd05ed7-a930-44e6-8c79-e6defeb7dec9", "groupsClaim": "groups",
                    "issuerURL": "https://issuer.example.org", "signingAlgs": ["RS256"],
                    "usernameClaim": "sub", "usernamePrefix": "-",
                }}},
                "controlPlane": {"highAvailability": {"failureTolerance": {"type": "zone"}}},
                "provider": {"type": "gcp",
                    "controlPlaneConfig": {"kind": "ControlPlaneConfig", "zone": "europe-west3-a"},
                    "infrastructureConfig": {
                        "apiVersion": version("gcp"), "kind": "InfrastructureConfig",
                        "networks": {"worker": "10.250.0.0/22", "workers": "10.250.0.0/22"},
                    },
                },
            }),
            json!({"zones": ["europe-west3-a", "europe-west3-b"]}),
        ),
        (
            openstack("p-stack"),
            json!({
                "cloudProfileName": "converged-cloud-kyma",
                "networking": {"type": "calico", "nodes": "10.250.0.0/22"},
                "provider": {"type": "openstack",
                    "controlPlaneConfig": {"loadBalancerProvider": "f5"},
                    "infrastructureConfig": {
                        "apiVersion": version("openstack"),
                        "floatingPoolName": "FloatingIP-external-kyma-01",
                        "networks": {"workers": "10.250.0.0/22"},
                    },
                },
            }),
            json!({"machine": {"type": "g_c4_m16"}, "zones": ["eu-de-1a"], "volume": null}),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn gardener_has_every_field_of_a_request_for_each_provider() {
    for gardener in ["1.65", "1.117"] {
        Box::pin(every_field_is_there(gardener)).await;
    }
}

async fn every_field_is_there(gardener: &str) {
    let world = World::playing(gardener).await;

    for (request, spec, worker) in table() {
        let cluster = request.cluster.clone();
        let made = world.provisioned(request).await;
        let shoot = world.env().gardener.shoot(&cluster.name).await.unwrap().unwrap();
        let found = serde_json::to_value(&shoot).unwrap();
        let mut wrong = missing(&spec, &found["spec"], "spec");
        wrong.extend(missing(&worker, &found["spec"]["provider"]["workers"][0], "workers[0]"));
        let common = json!({
            "metadata": {
                "namespace": "garden-kyma",
                "labels": {"account": "ga-1", "subaccount": "sa-1"},
                "annotations": {
                    "kcp.provisioner.kyma-project.io/runtime-id": made.runtime_id,
                    "compass.provisioner.kyma-project.io/runtime-id": made.runtime_id,
                    "kcp.provisioner.kyma-project.io/operation-id": made.id,
                    "compass.provisioner.kyma-project.io/operation-id": made.id,
                    "support.gardener.cloud/eu-access-for-cluster-nodes": "true",
                },
            },
            "spec": {
                "region": cluster.region,
                "secretBindingName": cluster.target_secret,
                "purpose": "development",
                "maintenance": {"autoUpdate": {
                    "kubernetesVersion": false, "machineImageVersion": false,
                }},
            },
        });
        wrong.extend(missing(&common, &found, "shoot"));
        let kinds: Vec<&str> = found["spec"]["extensions"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["type"].as_str())
            .collect();
        assert_eq!(kinds, ["shoot-dns-service", "shoot-cert-service", "shoot-networking-filter"]);
        assert!(wrong.is_empty(), "{gardener} {}: {wrong:#?}", cluster.provider);
        let journal = world.engine_journal(&made.id).await;
        let mut notes = journal.iter().filter_map(|entry| entry.reason.as_deref());
        assert_eq!(notes.find(|note| note.contains("unknown field")), None, "{gardener}");
        let id = &made.runtime_id;
        let larger = requests::UpgradeShoot {
            auto_scaler_max: Some(9),
            ..requests::UpgradeShoot::default()
        };
        let changed = world.provisioner.upgrade_shoot(&caller(), id, larger).await.unwrap();
        world.success_of(&changed.id).await;
        let asleep = world.provisioner.hibernate(&caller(), id).await.unwrap();
        world.success_of(&asleep.id).await;
        let removed =
            world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
        world.success_of(&removed.id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_of_azure_may_grow() {
    let world = World::sqlite().await;
    let made = world.provisioned(azure("grow")).await;
    let mut config = azure("grow").cluster.provider_config;
    config.azure.as_mut().unwrap().vnet_cidr = "10.250.0.0/16".into();
    let wider = requests::UpgradeShoot {
        provider_config: Some(config),
        ..requests::UpgradeShoot::default()
    };

    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, wider).await.unwrap();
    world.success_of(&begun.id).await;

    let shoot = world.env().gardener.shoot("grow").await.unwrap().unwrap();
    let found = serde_json::to_value(&shoot).unwrap();
    let networks = &found["spec"]["provider"]["infrastructureConfig"]["networks"];
    assert_eq!(networks["vnet"]["cidr"], "10.250.0.0/16");
}
