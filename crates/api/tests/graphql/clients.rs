//! What the known clients send, as they send it: values written into the document, the alias `result`,
//! `variables` null.

use provisioner::status::Parts;
use serde_json::{Value, json};

use crate::{
    recorder::Asked,
    sample::{OPERATION, RUNTIME},
    service::{Service, TENANT},
};

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
                    diskType: "gp3", targetSecret: "aws-sec", workerCidr: "10.250.0.0/16",
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

    let answer = sent(&service, query).await;
    let (caller, asked) = service.runtimes.calls().remove(0);
    let Asked::Provision(request) = asked else { panic!() };

    let expected = json!({
        "id": OPERATION, "operation": "ProvisionNoInstall", "state": "InProgress",
        "message": "Provisioning started", "runtimeID": RUNTIME,
        "lastError": {"errMessage": "", "reason": "", "component": ""},
    });
    assert_eq!(answer, expected);
    assert_eq!(caller.tenant, TENANT);
    assert_eq!(request.cluster.kubernetes_auto_update, Some(false));
    assert_eq!(request.cluster.max_unavailable, Some(0));
    assert_eq!(request.labels["broker_instance_id"], "i");
}

#[tokio::test]
async fn the_broker_asks_for_an_operation_and_for_a_runtime() {
    let service = Service::start().await;
    let operation = format!(
        r#"query {{ result: runtimeOperationStatus(id: "{OPERATION}") {{
            id operation state message runtimeID lastError {{ errMessage reason component }} }} }}"#
    );
    let runtime = format!(
        r#"query {{ result: runtimeStatus(id: "{RUNTIME}") {{
            lastOperationStatus {{ operation state message lastError {{ errMessage reason component }} }}
            runtimeConnectionStatus {{ status }}
            runtimeConfiguration {{ kubeconfig clusterConfig {{
                name kubernetesVersion volumeSizeGB diskType machineType region provider seed
                targetSecret workerCidr autoScalerMin autoScalerMax maxSurge maxUnavailable
                providerSpecificConfig {{
                    ... on GCPProviderConfig {{ zones }}
                    ... on AzureProviderConfig {{ vnetCidr zones azureZones {{ name cidr }}
                        enableNatGateway idleConnectionTimeoutMinutes }}
                    ... on AWSProviderConfig {{ awsZones {{ ... on AWSZone {{
                        name publicCidr internalCidr workerCidr }} }} vpcCidr }}
                    ... on OpenStackProviderConfig {{ zones floatingPoolName cloudProfileName
                        loadBalancerProvider }} }}
                oidcConfig {{ clientID groupsClaim issuerURL signingAlgs usernameClaim usernamePrefix }}
            }} kymaConfig {{ version }} }} }} }}"#
    );

    let operation = sent(&service, &operation).await;
    let runtime = sent(&service, &runtime).await;

    assert_eq!(operation["state"], "InProgress");
    let cluster = &runtime["runtimeConfiguration"]["clusterConfig"];
    assert_eq!(cluster["providerSpecificConfig"]["awsZones"][0]["name"], "eu-central-1a");
    assert_eq!(cluster["oidcConfig"]["clientID"], "client");
    let asked: Vec<Asked> = service.runtimes.calls().into_iter().map(|(_, asked)| asked).collect();
    let parts = Parts { hibernation: false, ..Parts::ALL };
    assert_eq!(asked, [Asked::Operation(OPERATION.into()), Asked::Runtime(RUNTIME.into(), parts)]);
}

#[tokio::test]
async fn the_broker_upgrades_and_removes() {
    let service = Service::start().await;
    let shoot = format!(
        r#"mutation {{ result: upgradeShoot(id: "{RUNTIME}", config: {{ gardenerConfig: {{
            kubernetesVersion: "1.32.0", machineImage: "gardenlinux", machineImageVersion: "1443.3.0",
            autoScalerMin: 0, maxSurge: 0, enableMachineImageVersionAutoUpdate: false, }},
            }}) {{ id operation state message runtimeID }} }}"#
    );
    let remove = format!("mutation {{ result: deprovisionRuntime(id: \"{RUNTIME}\") }}");
    let reconnect = format!("mutation {{ result: reconnectRuntimeAgent(id: \"{RUNTIME}\") }}");

    let answer = sent(&service, &shoot).await;
    let Asked::UpgradeShoot(_, request) = service.runtimes.asked() else { panic!() };
    let removed = sent(&service, &remove).await;
    let reconnected = sent(&service, &reconnect).await;

    assert_eq!(answer["operation"], "UpgradeShoot");
    assert_eq!((request.auto_scaler_min, request.max_surge), (Some(0), Some(0)));
    assert_eq!(request.machine_image_auto_update, Some(false));
    assert_eq!((removed, reconnected), (OPERATION.into(), OPERATION.into()));
    let asked: Vec<Asked> = service.runtimes.calls().into_iter().map(|(_, asked)| asked).collect();
    assert_eq!(
        asked,
        [Asked::Deprovision(RUNTIME.into(), false), Asked::Reconnect(RUNTIME.into())]
    );
}

#[tokio::test]
async fn the_kubeconfig_service_asks_for_a_kubeconfig() {
    let service = Service::start().await;
    let query = format!(
        "query {{ result: runtimeStatus(id: \"{RUNTIME}\") {{ runtimeConfiguration {{ kubeconfig }} }} }}"
    );

    let answer = sent(&service, &query).await;

    assert_eq!(answer, json!({"runtimeConfiguration": {"kubeconfig": "apiVersion: v1"}}));
}
