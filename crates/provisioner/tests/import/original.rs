//! Rows as the original provisioner writes them.

use serde_json::{Value, json};
use store::testing::originals::{OriginalDatabase, encrypted};
use uuid::Uuid;

pub(crate) const KEY: &str = "a key of the original, 32 bytes.";
pub(crate) const PROJECT: &str = "kyma";

/// The situation of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Situation {
    Upgraded,
    Made,
    NotMade,
    Changed,
    Removed,
    BeingMade,
    BeingChanged,
    BeingRemoved,
}

impl Situation {
    pub(crate) const ALL: [Self; 8] = [
        Self::Upgraded,
        Self::Made,
        Self::NotMade,
        Self::Changed,
        Self::Removed,
        Self::BeingMade,
        Self::BeingChanged,
        Self::BeingRemoved,
    ];

    /// Whether the original works on it, and does not remove it.
    pub(crate) fn is_running(self) -> bool {
        matches!(self, Self::BeingMade | Self::BeingChanged)
    }

    fn operations(self) -> Vec<(&'static str, &'static str)> {
        let made = ("PROVISION_NO_INSTALL", "SUCCEEDED");
        match self {
            Self::Upgraded => vec![made, ("UPGRADE", "SUCCEEDED"), ("HIBERNATE", "SUCCEEDED")],
            Self::Made => vec![made],
            Self::NotMade => vec![("PROVISION_NO_INSTALL", "FAILED")],
            Self::Changed => {
                vec![made, ("UPGRADE_SHOOT", "SUCCEEDED"), ("RECONNECT_RUNTIME", "FAILED")]
            }
            Self::Removed => vec![made, ("DEPROVISION_NO_INSTALL", "SUCCEEDED")],
            Self::BeingMade => vec![("PROVISION_NO_INSTALL", "IN_PROGRESS")],
            Self::BeingChanged => vec![made, ("UPGRADE_SHOOT", "IN_PROGRESS")],
            Self::BeingRemoved => vec![made, ("DEPROVISION", "IN_PROGRESS")],
        }
    }
}

/// The thing of this sort that belongs to the runtime of this number.
pub(crate) fn id(number: usize, sort: u128) -> Uuid {
    Uuid::from_u128((number as u128 + 1) << 32 | sort)
}

/// Every form that the column has had, with the provider's name.
pub(crate) fn provider_config() -> Vec<(&'static str, Value)> {
    let zone = json!({"name": "eu-central-1a", "publicCidr": "10.0.32.0/20", "workerCidr": "10.0.0.0/19", "internalCidr": "10.0.48.0/20"});
    vec![
        ("aws", json!({"vpcCidr": "10.0.0.0/16", "awsZones": [zone]})),
        (
            "azure",
            json!({"vnetCidr": "10.0.0.0/16", "zones": null, "azureZones": [{"name": 2, "cidr": "10.0.0.0/19"}], "enableNatGateway": true, "idleConnectionTimeoutMinutes": 5}),
        ),
        (
            "azure",
            json!({"vnetCidr": "10.0.0.0/16", "zones": ["1"], "azureZones": null, "enableNatGateway": null}),
        ),
        ("gcp", json!({"zones": ["europe-west3-a"]})),
        (
            "openstack",
            json!({"zones": ["eu-de-1a"], "floatingPoolName": "f", "cloudProfileName": "c", "loadBalancerProvider": "f5"}),
        ),
        (
            "aws",
            json!({"zone": "eu-central-1a", "vpcCidr": "10.0.0.0/16", "publicCidr": "10.0.32.0/20", "internalCidr": "10.0.48.0/20"}),
        ),
        ("gcp", json!({"zones": ["europe-west3-b"]})),
        ("aws", json!({"vpcCidr": "10.0.0.0/16", "awsZones": [zone]})),
    ]
}

/// A database with a runtime in every situation.
pub(crate) async fn database() -> OriginalDatabase {
    let from = OriginalDatabase::provisioner().await;
    for (number, situation) in Situation::ALL.into_iter().enumerate() {
        fill(&from, number, situation).await;
    }
    furnish(&from).await;
    from
}

async fn fill(from: &OriginalDatabase, number: usize, situation: Situation) {
    let runtime = id(number, 1);
    let cluster = json!({
        "id": runtime, "tenant": "tenant", "sub_account_id": format!("subaccount-{number}"),
        "creation_timestamp": "2026-01-01T00:00:00.5", "deleted": situation == Situation::Removed,
        "is_kubeconfig_encrypted": false, "active_kyma_config_id": (number == 0).then(|| id(0, 0x21)),
    });
    from.insert("cluster", &[cluster]).await;
    let operations = situation.operations().into_iter().enumerate().map(|(at, (kind, state))| {
        let failed = if state == "FAILED" { "Gardener refused" } else { "" };
        json!({
            "id": id(number, 2 + at as u128), "type": kind, "state": state, "message": "message",
            "start_timestamp": format!("2026-01-01T00:0{at}:00"),
            "end_timestamp": (state != "IN_PROGRESS").then(|| format!("2026-01-01T00:0{at}:30")),
            "cluster_id": runtime, "stage": "Finished", "err_message": failed, "reason": "", "component": "",
        })
    });
    from.insert("operation", &operations.collect::<Vec<_>>()).await;
    let (provider, config) = provider_config().swap_remove(number);
    let gardener = json!({
        "id": id(number, 8), "cluster_id": runtime, "name": format!("c-{number}"), "project_name": PROJECT,
        "kubernetes_version": "1.25.4", "volume_size_gb": "80", "machine_type": "m5.xlarge",
        "region": "eu-central-1", "provider": provider, "seed": "", "target_secret": "secret",
        "worker_cidr": "10.0.0.0/16", "auto_scaler_min": 2, "auto_scaler_max": 4, "max_surge": 1,
        "max_unavailable": 0, "enable_kubernetes_version_auto_update": false,
        "enable_machine_image_version_auto_update": false, "allow_privileged_containers": false,
        "provider_specific_config": config, "eu_access": false,
    });
    from.insert("gardener_config", &[gardener]).await;
}

/// Gives the first runtime a row in every table.
async fn furnish(from: &OriginalDatabase) {
    let runtime = id(0, 1);
    let administrator = |sort, user: String, encrypted| json!({"id": id(0, sort), "cluster_id": runtime, "user_id": user, "is_user_id_encrypted": encrypted});
    from.insert(
        "cluster_administrator",
        &[
            administrator(0x10, encrypted(KEY, "jo@example.test"), true),
            administrator(0x11, "plain@example.test".into(), false),
        ],
    )
    .await;
    let oidc = json!({
        "id": id(0, 8), "gardener_config_id": id(0, 8), "client_id": "client", "groups_claim": "groups",
        "issuer_url": "https://issuer.test", "username_claim": "sub", "username_prefix": "-",
    });
    from.insert("oidc_config", &[oidc]).await;
    let algorithm =
        |sort, name| json!({"id": id(0, sort), "oidc_config_id": id(0, 8), "algorithm": name});
    from.insert("signing_algorithms", &[algorithm(0x12, "RS256"), algorithm(0x13, "ES256")]).await;
    let dns = json!({"id": id(0, 0x14), "gardener_config_id": id(0, 8), "domain": "c-0.kyma.test"});
    from.insert("dns_config", &[dns]).await;
    let provider = json!({
        "id": id(0, 0x15), "dns_config_id": id(0, 0x14), "domains_include": "a.test,b.test", "is_primary": true,
        "secret_name": "dns", "type": "aws-route53",
    });
    from.insert("dns_providers", &[provider]).await;
    for (sort, version) in [(0x20, "2.9.3"), (0x21, "2.10.0")] {
        let release =
            json!({"id": id(0, sort), "version": version, "tiller_yaml": "", "installer_yaml": ""});
        from.insert("kyma_release", &[release]).await;
        let kyma = json!({
            "id": id(0, sort), "release_id": id(0, sort), "cluster_id": runtime, "profile": "PRODUCTION",
            "global_configuration": {"configEntries": [], "conflictStrategy": "Replace"},
        });
        from.insert("kyma_config", &[kyma]).await;
        let component = |order: u128, name: &str| {
            json!({
                "id": id(0, sort * 16 + order), "component": name, "namespace": "kyma-system", "component_order": order,
                "kyma_config_id": id(0, sort),
                "configuration": {"configEntries": [{"key": "a", "value": "b", "secret": true}], "conflictStrategy": ""},
            })
        };
        from.insert("kyma_component_config", &[component(2, "core"), component(1, "istio")]).await;
    }
    let upgrade = json!({
        "id": id(0, 0x30), "operation_id": id(0, 3), "state": "SUCCEEDED",
        "pre_upgrade_kyma_config_id": id(0, 0x20), "post_upgrade_kyma_config_id": id(0, 0x21),
    });
    from.insert("runtime_upgrade", &[upgrade]).await;
}
