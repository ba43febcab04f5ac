//! The provisioner's client: its requests, byte for byte.

use clients::provisioner::{
    OperationState, OperationType, ShootChange, Tenant, Upgrade, UpgradeShoot,
};
use serde_json::json;

use super::{KEY, STATUS, TENANT, data, order, provisioner, status};

#[tokio::test]
async fn requests_are_what_the_provisioner_documents() {
    let (provisioner, heard) = provisioner(|number| match number {
        4 | 6 => data(&json!("o-1")),
        _ => data(&status()),
    })
    .await;
    let change = UpgradeShoot {
        cluster: ShootChange { auto_scaler_max: Some(5), ..ShootChange::default() },
        administrators: Vec::new(),
    };
    let upgrade = Upgrade { kubernetes_version: Some("1.30.1".into()), kyma: None };

    let begun = provisioner.provision(TENANT, KEY, &order("demo")).await.unwrap();
    provisioner.upgrade(TENANT, KEY, "r-1", &upgrade).await.unwrap();
    provisioner.upgrade_shoot(TENANT, KEY, "r-1", &change).await.unwrap();
    let removal = provisioner.deprovision(TENANT, KEY, "r-1").await.unwrap();
    provisioner.hibernate(TENANT, KEY, "r-1").await.unwrap();
    provisioner.reconnect(TENANT, KEY, "r-1").await.unwrap();
    provisioner.operation_status(Tenant::new("ga"), "o-1").await.unwrap();
    provisioner.provision_registered(TENANT, KEY, "r-1", &order("demo")).await.unwrap();

    assert_eq!(removal, "o-1");
    assert_eq!(
        (begun.operation, begun.state),
        (OperationType::ProvisionNoInstall, OperationState::InProgress)
    );
    assert_eq!((begun.runtime_id.as_deref(), begun.last_error), (Some("r-1"), None));
    let zone =
        json!({"name": "eu-central-1a", "publicCidr": "", "internalCidr": "", "workerCidr": ""});
    let config = json!({
        "runtimeInput": {"name": "demo"},
        "clusterConfig": {
            "gardenerConfig": {
                "name": "c-1", "provider": "aws", "targetSecret": "", "region": "", "workerCidr": "",
                "providerSpecificConfig": {
                    "awsConfig": {"vpcCidr": "10.250.0.0/16", "awsZones": [zone]},
                },
                "maxUnavailable": 0, "euAccess": false,
            },
            "administrators": ["ada@example.org"],
        },
    });
    let id = json!({"id": "r-1"});
    let golden = [
        (
            format!(
                "mutation ($config: ProvisionRuntimeInput!) {{ result: provisionRuntime(config: $config) {STATUS}"
            ),
            json!({"config": config}),
        ),
        (
            format!(
                "mutation ($id: String!, $config: UpgradeRuntimeInput!) {{ result: upgradeRuntime(id: $id, config: $config) {STATUS}"
            ),
            json!({"id": "r-1", "config": {"kubernetesVersion": "1.30.1"}}),
        ),
        (
            format!(
                "mutation ($id: String!, $config: UpgradeShootInput!) {{ result: upgradeShoot(id: $id, config: $config) {STATUS}"
            ),
            json!({"id": "r-1", "config": {"gardenerConfig": {"autoScalerMax": 5}}}),
        ),
        ("mutation ($id: String!) { result: deprovisionRuntime(id: $id) }".into(), id.clone()),
        (
            format!("mutation ($id: String!) {{ result: hibernateRuntime(id: $id) {STATUS}"),
            id.clone(),
        ),
        ("mutation ($id: String!) { result: reconnectRuntimeAgent(id: $id) }".into(), id),
        (
            format!("query ($id: String!) {{ result: runtimeOperationStatus(id: $id) {STATUS}"),
            json!({"id": "o-1"}),
        ),
        (
            format!(
                "mutation ($id: String!, $config: ProvisionRuntimeInput!) {{ result: provisionRuntime(runtimeID: $id, config: $config) {STATUS}"
            ),
            json!({"id": "r-1", "config": config}),
        ),
    ];
    let all = heard.all();
    assert_eq!(all.len(), golden.len());
    for (heard, (query, variables)) in all.iter().zip(&golden) {
        assert_eq!(heard.json(), json!({"query": query, "variables": variables}));
        assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/graphql"));
        assert_eq!(heard.header("tenant"), Some("ga"));
        assert_eq!(heard.header("content-type"), Some("application/json; charset=utf-8"));
    }
    assert_eq!(all[0].header("sub-account"), Some("sa"));
    assert_eq!(all[6].header("sub-account"), None);
}
