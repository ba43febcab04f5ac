//! What the known clients send, as they send it: values written into the document, the alias `result`,
//! `variables` null.

use serde_json::{Value, json};

use crate::service::{Service, TENANT};

async fn sent(service: &Service, query: &str) -> Value {
    service.post(&json!({"query": query, "variables": null})).await.data()["result"].clone()
}

#[tokio::test]
async fn the_broker_provisions() {
    let service = Service::start().await;
    let query = r#"mutation {
        result: provisionRuntime(config: {
            runtimeInput: { name: "demo-1", description: "demo", labels: { broker_instance_id: "i", },
            },
            clusterConfig: {
                gardenerConfig: {
                    name: "c-7f3a91b", kubernetesVersion: "1.31.2", volumeSizeGB: 50,
                    machineType: "m5.xlarge", region: "eu-central-1", provider: "aws",
                    diskType: "gp3", targetSecret: "aws-free-1", workerCidr: "10.250.0.0/16",
                    autoScalerMin: 3, autoScalerMax: 10, maxSurge: 3, maxUnavailable: 0,
                    purpose: "development", enableKubernetesVersionAutoUpdate: false,
                    enableMachineImageVersionAutoUpdate: false, euAccess: false,
                    providerSpecificConfig: { awsConfig: { vpcCidr: "10.250.0.0/16",
                        awsZones: [ { name: "eu-central-1a", workerCidr: "10.250.0.0/19",
                            publicCidr: "10.250.32.0/20", internalCidr: "10.250.48.0/20", }, ] } },
                },
                administrators: ["ada@example.org"],
            },
        }) { id operation state message runtimeID lastError { errMessage reason component } } }"#;

    let mut answer = sent(&service, query).await;
    let id = answer["runtimeID"].take().as_str().unwrap().parse().unwrap();
    answer["id"].take();
    let row = service.provisioner.parts().store.find(id).await.unwrap().unwrap();
    let document: Value = serde_json::from_slice(&row.document).unwrap();
    let configuration = &document["configuration"];

    let expected = json!({
        "id": null, "operation": "ProvisionNoInstall", "state": "InProgress",
        "message": "Provisioning started", "runtimeID": null,
        "lastError": {"errMessage": "", "reason": "", "component": ""},
    });
    assert_eq!(answer, expected);
    assert_eq!(row.tenant, TENANT);
    assert_eq!(configuration["cluster"]["kubernetes_auto_update"], false);
    assert_eq!(configuration["cluster"]["max_unavailable"], 0);
    assert_eq!(configuration["entry"]["labels"]["broker_instance_id"], "i");
}

#[tokio::test]
async fn the_broker_asks_for_an_operation_and_for_a_runtime() {
    let service = Service::start().await;
    let operation = r#"query { result: runtimeOperationStatus(id: "o") {
            id operation state message runtimeID lastError { errMessage reason component } } }"#;
    let runtime = r#"query { result: runtimeStatus(id: "r") {
            lastOperationStatus { operation state message lastError { errMessage reason component } }
            runtimeConnectionStatus { status }
            runtimeConfiguration { kubeconfig clusterConfig {
                name kubernetesVersion volumeSizeGB diskType machineType region provider seed
                targetSecret workerCidr autoScalerMin autoScalerMax maxSurge maxUnavailable
                providerSpecificConfig {
                    ... on GCPProviderConfig { zones }
                    ... on AzureProviderConfig { vnetCidr zones azureZones { name cidr }
                        enableNatGateway idleConnectionTimeoutMinutes }
                    ... on AWSProviderConfig { awsZones { ... on AWSZone {
                        name publicCidr internalCidr workerCidr } } vpcCidr }
                    ... on OpenStackProviderConfig { zones floatingPoolName cloudProfileName
                        loadBalancerProvider } }
                oidcConfig { clientID groupsClaim issuerURL signingAlgs usernameClaim usernamePrefix }
            } kymaConfig { version } } } }"#;

    let operation = sent(&service, operation).await;
    let runtime = sent(&service, runtime).await;

    assert_eq!(operation["state"], "Succeeded");
    let cluster = &runtime["runtimeConfiguration"]["clusterConfig"];
    assert_eq!(cluster["providerSpecificConfig"]["zones"], json!(["europe-west3-a"]));
    assert_eq!(cluster["oidcConfig"]["clientID"], "");
}

#[tokio::test]
async fn the_broker_upgrades_and_removes() {
    let service = Service::start().await;
    let shoot = r#"mutation { result: upgradeShoot(id: "r", config: { gardenerConfig: {
            kubernetesVersion: "1.32.0", machineImage: "gardenlinux", machineImageVersion: "1443.3.0",
            autoScalerMin: 1, maxSurge: 2, enableMachineImageVersionAutoUpdate: false, },
            }) { id operation state message runtimeID } }"#;
    let remove = "mutation { result: deprovisionRuntime(id: \"r\") }";
    let reconnect = "mutation { result: reconnectRuntimeAgent(id: \"r\") }";

    let reconnected = sent(&service, reconnect).await;
    service.finish().await;
    let answer = sent(&service, shoot).await;
    service.finish().await;
    let removed = sent(&service, remove).await;

    assert_eq!(answer["operation"], "UpgradeShoot");
    assert!(removed.is_string() && reconnected.is_string());
}

#[tokio::test]
async fn the_kubeconfig_service_asks_for_a_kubeconfig() {
    let service = Service::start().await;
    let query =
        "query { result: runtimeStatus(id: \"r\") { runtimeConfiguration { kubeconfig } } }";

    // Gardener would say that the Shoot is gone.
    service.break_the_garden();
    let answer = sent(&service, query).await;

    assert_eq!(answer, json!({"runtimeConfiguration": {"kubeconfig": "apiVersion: v1"}}));
}
