//! Every field of an answer, as use cases give it.

use provisioner::{
    configuration::Provider,
    status::{
        ConnectionState, ConnectionStatus, Hibernation, LastError, OperationState, OperationType,
    },
};
use serde_json::{Value, json};

use crate::{sample, schema::Known, service::Service};

fn aws() -> Value {
    json!({
        "__typename": "AWSProviderConfig",
        "awsZones": [{
            "name": "eu-central-1a", "publicCidr": "10.250.32.0/20",
            "internalCidr": "10.250.48.0/20", "workerCidr": "10.250.0.0/19",
        }],
        "vpcCidr": "10.250.0.0/16",
    })
}

fn azure() -> Value {
    json!({
        "__typename": "AzureProviderConfig",
        "vnetCidr": "10.1.0.0/16",
        "zones": ["1"],
        "azureZones": [{"name": 2, "cidr": "10.1.2.0/24"}],
        "enableNatGateway": true,
        "idleConnectionTimeoutMinutes": 7,
    })
}

fn gcp() -> Value {
    json!({"__typename": "GCPProviderConfig", "zones": ["europe-west3-a", "europe-west3-b"]})
}

fn open_stack() -> Value {
    json!({
        "__typename": "OpenStackProviderConfig",
        "zones": ["eu-de-1a"],
        "floatingPoolName": "pool",
        "cloudProfileName": "profile",
        "loadBalancerProvider": "f5",
    })
}

fn cluster(provider: &str, specific: &Value) -> Value {
    json!({
        "name": "c-7f3a91b", "kubernetesVersion": "1.31.2", "targetSecret": "the-secret",
        "provider": provider, "region": "eu-central-1", "seed": "aws-eu1",
        "machineType": "m5.xlarge", "machineImage": "gardenlinux",
        "machineImageVersion": "1443.3.0", "diskType": "gp3", "volumeSizeGB": 50,
        "workerCidr": "10.250.0.0/16", "podsCidr": "100.64.0.0/12",
        "servicesCidr": "100.104.0.0/13", "autoScalerMin": 3, "autoScalerMax": 10,
        "maxSurge": 4, "maxUnavailable": 0, "purpose": "development",
        "licenceType": "TestDevelopmentAndDemo", "enableKubernetesVersionAutoUpdate": true,
        "enableMachineImageVersionAutoUpdate": false, "allowPrivilegedContainers": null,
        "providerSpecificConfig": specific,
        "dnsConfig": {"domain": "c-7f3a91b.example.org", "providers": [
            {"domainsInclude": ["d1.example.org"], "primary": true,
             "secretName": "dns-secret-1", "type": "aws-route53"},
            {"domainsInclude": ["d2.example.org"], "primary": false,
             "secretName": "dns-secret-2", "type": "aws-route53"},
        ]},
        "oidcConfig": {
            "clientID": "client", "groupsClaim": "groups",
            "issuerURL": "https://issuer.example.org", "signingAlgs": ["RS256"],
            "usernameClaim": "sub", "usernamePrefix": "-",
        },
        "exposureClassName": "internet", "shootNetworkingFilterDisabled": true,
        "controlPlaneFailureTolerance": "zone", "euAccess": true,
    })
}

fn runtime(provider: &str, specific: &Value) -> Value {
    json!({
        "lastOperationStatus": {
            "id": sample::OPERATION, "operation": "ProvisionNoInstall", "state": "InProgress",
            "message": "Provisioning started", "runtimeID": sample::RUNTIME,
            "lastError": {"errMessage": "", "reason": "", "component": ""}, "errors": [],
        },
        "runtimeConnectionStatus": {
            "status": "Disconnected", "errors": [{"message": "certificate expired"}],
        },
        "runtimeConfiguration": {
            "clusterConfig": cluster(provider, specific),
            "kymaConfig": {
                "version": "2.20.0", "profile": "Production",
                "components": [{
                    "component": "compass-runtime-agent", "namespace": "kyma-system",
                    "configuration": [{"key": "replicas", "value": "1", "secret": false}],
                    "sourceURL": "https://charts.example.org/agent",
                }],
                "configuration": [{"key": "password", "value": "[REDACTED]", "secret": true}],
            },
            "kubeconfig": "apiVersion: v1",
        },
        "hibernationStatus": {"hibernated": false, "hibernationPossible": true},
    })
}

#[tokio::test]
async fn every_field_of_a_runtime_leaves_for_each_provider() {
    let service = Service::start().await;
    let selection = Known::ask(&service).await.selection("RuntimeStatus");
    let cases: [(Provider, &str, Value); 4] = [
        (sample::aws(), "aws", aws()),
        (sample::azure(), "azure", azure()),
        (sample::gcp(), "gcp", gcp()),
        (sample::open_stack(), "openstack", open_stack()),
    ];

    for (provider, name, specific) in cases {
        *service.runtimes.runtime.lock().unwrap() = Ok(sample::runtime(provider));
        let read = service.run(&format!("{{ r: runtimeStatus(id: \"r\") {selection} }}")).await;
        let back = format!("mutation {{ r: rollBackUpgradeOperation(id: \"r\") {selection} }}");
        let back = service.run(&back).await;

        let expected = json!({"r": runtime(name, &specific)});
        assert_eq!(read.data(), expected, "{name}");
        assert_eq!(back.data(), expected, "{name}");
    }
}

#[tokio::test]
async fn what_clients_dereference_is_there_even_when_nothing_is_known() {
    let service = Service::start().await;
    let mut bare = sample::runtime(sample::gcp());
    bare.last_operation = None;
    bare.connection = ConnectionStatus { state: ConnectionState::Pending, errors: vec![] };
    bare.configuration.cluster.oidc = None;
    bare.configuration.cluster.dns = None;
    bare.configuration.kyma = None;
    bare.kubeconfig = None;
    bare.hibernation = Hibernation::default();
    *service.runtimes.runtime.lock().unwrap() = Ok(bare);
    let query = "{ r: runtimeStatus(id: \"r\") { lastOperationStatus { id }
        runtimeConnectionStatus { status errors { message } }
        runtimeConfiguration { kubeconfig kymaConfig { version } clusterConfig { dnsConfig { domain }
            oidcConfig { clientID groupsClaim issuerURL signingAlgs usernameClaim usernamePrefix } } }
        hibernationStatus { hibernated hibernationPossible } } }";

    let answer = service.run(query).await.data();

    let expected = json!({
        "lastOperationStatus": null,
        "runtimeConnectionStatus": {"status": "Pending", "errors": null},
        "runtimeConfiguration": {
            "kubeconfig": null, "kymaConfig": null,
            "clusterConfig": {
                "dnsConfig": null,
                "oidcConfig": {
                    "clientID": "", "groupsClaim": "", "issuerURL": "", "signingAlgs": [],
                    "usernameClaim": "", "usernamePrefix": "",
                },
            },
        },
        "hibernationStatus": {"hibernated": null, "hibernationPossible": null},
    });
    assert_eq!(answer["r"], expected);
}

#[tokio::test]
async fn an_azure_cluster_without_a_word_on_its_gateway_says_null() {
    let service = Service::start().await;
    let Provider::Azure(mut azure) = sample::azure() else { panic!() };
    azure.nat_gateway = None;
    azure.azure_zones = None;
    azure.zones = None;
    *service.runtimes.runtime.lock().unwrap() = Ok(sample::runtime(Provider::Azure(azure)));

    let answer = service
        .run(
            "{ runtimeStatus(id: \"r\") { runtimeConfiguration { clusterConfig {
            providerSpecificConfig { ... on AzureProviderConfig { zones azureZones { name }
            enableNatGateway idleConnectionTimeoutMinutes } } } } } }",
        )
        .await
        .data();

    let path = "/runtimeStatus/runtimeConfiguration/clusterConfig/providerSpecificConfig";
    let expected = json!({
        "zones": null, "azureZones": null, "enableNatGateway": null,
        "idleConnectionTimeoutMinutes": null,
    });
    assert_eq!(answer.pointer(path).unwrap(), &expected);
}

#[tokio::test]
async fn every_word_of_an_operation_leaves() {
    let service = Service::start().await;
    let kinds = [
        (OperationType::Provision, "Provision"),
        (OperationType::ProvisionNoInstall, "ProvisionNoInstall"),
        (OperationType::Upgrade, "Upgrade"),
        (OperationType::UpgradeShoot, "UpgradeShoot"),
        (OperationType::Deprovision, "Deprovision"),
        (OperationType::DeprovisionNoInstall, "DeprovisionNoInstall"),
        (OperationType::ReconnectRuntime, "ReconnectRuntime"),
        (OperationType::Hibernate, "Hibernate"),
    ];
    let states = [
        (OperationState::InProgress, "InProgress"),
        (OperationState::Succeeded, "Succeeded"),
        (OperationState::Failed, "Failed"),
    ];

    for ((kind, kind_word), (state, state_word)) in
        kinds.into_iter().flat_map(|kind| states.map(|state| (kind, state)))
    {
        let mut operation = sample::operation();
        (operation.kind, operation.state) = (kind, state);
        *service.runtimes.operation.lock().unwrap() = Ok(operation);
        let query = "{ o: runtimeOperationStatus(id: \"o\") { operation state } }";
        let expected = json!({"o": {"operation": kind_word, "state": state_word}});
        assert_eq!(service.run(query).await.data(), expected);
    }
}

#[tokio::test]
async fn the_words_for_the_agents_connection_leave() {
    let service = Service::start().await;
    let states = [
        (ConnectionState::Pending, "Pending"),
        (ConnectionState::Connected, "Connected"),
        (ConnectionState::Disconnected, "Disconnected"),
    ];

    for (state, word) in states {
        let mut runtime = sample::runtime(sample::gcp());
        runtime.connection.state = state;
        *service.runtimes.runtime.lock().unwrap() = Ok(runtime);
        let query = "{ r: runtimeStatus(id: \"r\") { runtimeConnectionStatus { status } } }";
        let expected = json!({"r": {"runtimeConnectionStatus": {"status": word}}});
        assert_eq!(service.run(query).await.data(), expected);
    }
}

#[tokio::test]
async fn a_failed_operation_says_what_went_wrong() {
    let service = Service::start().await;
    let mut operation = sample::operation();
    operation.state = OperationState::Failed;
    operation.last_error = Some(LastError {
        message: "quota exhausted".into(),
        reason: "ERR_INFRA_QUOTA_EXCEEDED".into(),
        component: "gardener".into(),
    });
    operation.errors = vec!["quota exhausted".into(), "slow down".into()];
    *service.runtimes.operation.lock().unwrap() = Ok(operation);

    let answer = service
        .run(
            "{ o: runtimeOperationStatus(id: \"o\") { state errors
            lastError { errMessage reason component } } }",
        )
        .await
        .data();

    let expected = json!({"o": {
        "state": "Failed",
        "errors": ["quota exhausted", "slow down"],
        "lastError": {
            "errMessage": "quota exhausted", "reason": "ERR_INFRA_QUOTA_EXCEEDED",
            "component": "gardener",
        },
    }});
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn removing_and_reconnecting_answer_with_the_operations_id() {
    let service = Service::start().await;

    let removed = service.run("mutation { deprovisionRuntime(id: \"r\") }").await.data();
    let reconnected = service.run("mutation { reconnectRuntimeAgent(id: \"r\") }").await.data();

    assert_eq!(removed, json!({"deprovisionRuntime": sample::OPERATION}));
    assert_eq!(reconnected, json!({"reconnectRuntimeAgent": sample::OPERATION}));
}
