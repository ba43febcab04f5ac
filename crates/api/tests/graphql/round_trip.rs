//! Every field that a client sends is stored, and leaves again with the runtime's status.

use serde_json::{Value, json};

use crate::{schema::ClientSchema, service::Service};

const PROVISION: &str = r#"mutation { provisionRuntime(config: {
  runtimeInput: { name: "demo-PROVIDER", description: "a demo", labels: { team: "blue", n: [1, {a: true}] } }
  clusterConfig: {
    administrators: ["ada@example.org", "bob@example.org"]
    gardenerConfig: {
      name: "c-PROVIDER", kubernetesVersion: "1.31.2", provider: "PROVIDER", targetSecret: "PROVIDER-free-1",
      region: "region", machineType: "m5.xlarge", machineImage: "gardenlinux",
      machineImageVersion: "1443.3.0", diskType: "gp3", volumeSizeGB: 50,
      workerCidr: "10.250.0.0/16", podsCidr: "100.64.0.0/12", servicesCidr: "100.104.0.0/13",
      autoScalerMin: 3, autoScalerMax: 10, maxSurge: 4, maxUnavailable: 0, purpose: "development",
      licenceType: "Demo", enableKubernetesVersionAutoUpdate: true,
      enableMachineImageVersionAutoUpdate: false, allowPrivilegedContainers: true,
      providerSpecificConfig: SPECIFIC
      dnsConfig: { domain: "d.example.org", providers: [
        { domainsInclude: ["d.example.org"], primary: true, secretName: "dns", type: "route53" } ] }
      seed: "aws-eu1"
      oidcConfig: { clientID: "client", groupsClaim: "groups", issuerURL: "https://issuer.example.org",
        signingAlgs: ["RS256"], usernameClaim: "sub", usernamePrefix: "-" }
      exposureClassName: "internet", shootNetworkingFilterDisabled: false,
      controlPlaneFailureTolerance: "zone", euAccess: true } }
  kymaConfig: {
    version: "1.22.0", profile: Evaluation, conflictStrategy: Replace
    components: [ { component: "compass-runtime-agent", namespace: "kyma-system",
      sourceURL: "https://charts.example.org/agent", conflictStrategy: Merge
      configuration: [ { key: "a", value: "1" } { key: "c", value: "3", secret: true } ] } ]
    configuration: [ { key: "b", value: "2", secret: true } ] }
}) { runtimeID } }"#;

pub(crate) const AWS: &str = r#"{ awsConfig: { vpcCidr: "10.250.0.0/16", awsZones: [ { name: "1a",
  publicCidr: "10.250.32.0/20", internalCidr: "10.250.48.0/20", workerCidr: "10.250.0.0/19" } ] } }"#;
pub(crate) const AZURE: &str = r#"{ azureConfig: { vnetCidr: "10.250.0.0/16", enableNatGateway: true,
  azureZones: [ { name: 2, cidr: "10.250.0.0/19" } ], idleConnectionTimeoutMinutes: 7 } }"#;
pub(crate) const GCP: &str = r#"{ gcpConfig: { zones: ["a", "b"] } }"#;
pub(crate) const OPEN_STACK: &str = r#"{ openStackConfig: { zones: ["a"], floatingPoolName: "pool",
  cloudProfileName: "profile", loadBalancerProvider: "f5" } }"#;

/// The order of a runtime with every field.
pub(crate) fn new_runtime(provider: &str, specific: &str) -> String {
    let query = PROVISION.replace("PROVIDER", provider).replace("SPECIFIC", specific);
    let disks = if provider == "openstack" { r#"diskType: "gp3", volumeSizeGB: 50,"# } else { "" };
    if disks.is_empty() { query } else { query.replace(disks, "") }
}

/// What only one provider has, as it is sent and as it is read.
fn cases() -> [(&'static str, &'static str, Value); 4] {
    let aws = json!({
        "__typename": "AWSProviderConfig",
        "awsZones": [{
            "name": "1a", "publicCidr": "10.250.32.0/20", "internalCidr": "10.250.48.0/20",
            "workerCidr": "10.250.0.0/19",
        }],
        "vpcCidr": "10.250.0.0/16",
    });
    let azure = json!({
        "__typename": "AzureProviderConfig", "vnetCidr": "10.250.0.0/16", "zones": null,
        "azureZones": [{"name": 2, "cidr": "10.250.0.0/19"}], "enableNatGateway": true,
        "idleConnectionTimeoutMinutes": 7,
    });
    let gcp = json!({"__typename": "GCPProviderConfig", "zones": ["a", "b"]});
    let open_stack = json!({
        "__typename": "OpenStackProviderConfig", "zones": ["a"], "floatingPoolName": "pool",
        "cloudProfileName": "profile", "loadBalancerProvider": "f5",
    });
    [
        ("aws", AWS, aws),
        ("azure", AZURE, azure),
        ("gcp", GCP, gcp),
        ("openstack", OPEN_STACK, open_stack),
    ]
}

fn cluster(provider: &str, specific: &Value) -> Value {
    let disks = provider != "openstack";
    json!({
        "name": format!("c-{provider}"), "kubernetesVersion": "1.31.2", "targetSecret": format!("{provider}-free-1"),
        "provider": provider, "region": "region", "seed": "aws-eu1", "machineType": "m5.xlarge",
        "machineImage": "gardenlinux", "machineImageVersion": "1443.3.0",
        "diskType": disks.then_some("gp3"), "volumeSizeGB": disks.then_some(50),
        "workerCidr": "10.250.0.0/16", "podsCidr": "100.64.0.0/12",
        "servicesCidr": "100.104.0.0/13", "autoScalerMin": 3, "autoScalerMax": 10, "maxSurge": 4,
        "maxUnavailable": 0, "purpose": "development", "licenceType": "Demo",
        "enableKubernetesVersionAutoUpdate": true, "enableMachineImageVersionAutoUpdate": false,
        "allowPrivilegedContainers": null, "providerSpecificConfig": specific,
        "dnsConfig": {"domain": "d.example.org", "providers": [{
            "domainsInclude": ["d.example.org"], "primary": true, "secretName": "dns",
            "type": "route53",
        }]},
        "oidcConfig": {
            "clientID": "client", "groupsClaim": "groups",
            "issuerURL": "https://issuer.example.org", "signingAlgs": ["RS256"],
            "usernameClaim": "sub", "usernamePrefix": "-",
        },
        "exposureClassName": "internet", "shootNetworkingFilterDisabled": false,
        "controlPlaneFailureTolerance": "zone", "euAccess": true,
    })
}

#[tokio::test]
async fn every_field_of_a_runtime_arrives_and_leaves_for_each_provider() {
    let service = Service::start().await;
    let selection = ClientSchema::fetch(&service).await.selection("RuntimeStatus");

    for (provider, sent, read) in cases() {
        let ordered = service.run(&new_runtime(provider, sent)).await.data();
        let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
        let query = format!("{{ r: runtimeStatus(id: \"{runtime}\") {selection} }}");
        let status = service.run(&query).await.data()["r"].clone();
        let row = service.provisioner.parts().store.find(runtime.parse().unwrap()).await;
        let document: Value = serde_json::from_slice(&row.unwrap().unwrap().document).unwrap();

        let configuration = &status["runtimeConfiguration"];
        assert_eq!(configuration["clusterConfig"], cluster(provider, &read), "{provider}");
        let stored = &document["configuration"];
        assert_eq!(stored["administrators"], json!(["ada@example.org", "bob@example.org"]));
        let entry = json!({
            "name": format!("demo-{provider}"), "description": "a demo",
            "labels": {"team": "blue", "n": [1, {"a": true}]},
        });
        assert_eq!(stored["entry"], entry);
        assert_eq!(stored["kyma"]["profile"], "evaluation");
        assert_eq!(stored["kyma"]["conflict_strategy"], "Replace");
        let kyma = &configuration["kymaConfig"];
        assert_eq!((&kyma["version"], &kyma["profile"]), (&json!("1.22.0"), &json!("Evaluation")));
        // Secret values are told to nobody.
        let secret = json!([{"key": "b", "value": "[REDACTED]", "secret": true}]);
        assert_eq!(kyma["configuration"], secret);
        let agent = json!({
            "component": "compass-runtime-agent", "namespace": "kyma-system",
            "sourceURL": "https://charts.example.org/agent",
            "configuration": [
                {"key": "a", "value": "1", "secret": false},
                {"key": "c", "value": "[REDACTED]", "secret": true},
            ],
        });
        let components = kyma["components"].as_array().unwrap();
        assert!(components.contains(&agent), "{kyma}");
        let last = &status["lastOperationStatus"];
        assert_eq!(
            (&last["operation"], &last["state"]),
            (&json!("Provision"), &json!("InProgress"))
        );
        let nothing = json!({"errMessage": "", "reason": "", "component": ""});
        assert_eq!(last["lastError"], nothing);
    }
}

#[tokio::test]
async fn the_gateway_of_azure_is_off_on_or_absent() {
    let service = Service::start().await;
    let zones = "azureZones: [ { name: 2, cidr: \"10.250.0.0/19\" } ]";
    let cases = [
        ("", json!(null)),
        ("enableNatGateway: false", json!(false)),
        ("enableNatGateway: true", json!(true)),
    ];

    for (number, (switch, expected)) in cases.into_iter().enumerate() {
        let azure =
            format!("{{ azureConfig: {{ vnetCidr: \"10.250.0.0/16\" {zones} {switch} }} }}");
        let query = new_runtime("azure", &azure).replace("-azure\"", &format!("-azure{number}\""));
        let ordered = service.run(&query).await.data();
        let runtime = ordered["provisionRuntime"]["runtimeID"].as_str().unwrap();
        let query = format!(
            "{{ runtimeStatus(id: \"{runtime}\") {{ runtimeConfiguration {{ clusterConfig {{
            providerSpecificConfig {{ ... on AzureProviderConfig {{ enableNatGateway }} }} }} }} }} }}"
        );
        let status = service.run(&query).await.data();

        let path = "/runtimeStatus/runtimeConfiguration/clusterConfig/providerSpecificConfig";
        assert_eq!(status.pointer(path).unwrap()["enableNatGateway"], expected, "{switch}");
    }
}

#[tokio::test]
async fn what_clients_dereference_is_there_even_when_nothing_is_known() {
    let service = Service::start().await;
    let query = "{ r: runtimeStatus(id: \"r\") {
        runtimeConfiguration { kymaConfig { version } clusterConfig { dnsConfig { domain }
            oidcConfig { clientID groupsClaim issuerURL signingAlgs usernameClaim usernamePrefix } } }
        hibernationStatus { hibernated hibernationPossible } } }";

    let answer = service.run(query).await.data();

    let expected = json!({
        "runtimeConfiguration": {
            "kymaConfig": null,
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
async fn values_without_a_meaning_are_refused_with_their_path() {
    let service = Service::start().await;
    let order = PROVISION.replace("PROVIDER", "gcp").replace("SPECIFIC", GCP);
    let cases = [
        (
            order.replace("providers: [", "providers: [null"),
            "config.clusterConfig.gardenerConfig.dnsConfig.providers[0] must not be null",
        ),
        (
            order.replace("components: [", "components: [null"),
            "config.kymaConfig.components[0] must not be null",
        ),
        (
            order.replace("{ key: \"a\", value: \"1\" }", "null"),
            "config.kymaConfig.components[0].configuration[0] must not be null",
        ),
        (
            "mutation { upgradeRuntime(id: \"r\", config: { kymaConfig: { version: \"2\",
                configuration: [null] } }) { id } }"
                .into(),
            "config.kymaConfig.configuration[0] must not be null",
        ),
    ];

    for (query, message) in cases {
        let error = service.run(&query).await.error();

        assert_eq!(error["message"], message);
        assert_eq!(error["extensions"]["error_code"], 400);
    }
    assert_eq!(service.operations().await, 1);
}

#[tokio::test]
async fn the_tests_above_send_every_field_of_a_new_runtime() {
    let service = Service::start().await;
    let schema = ClientSchema::fetch(&service).await;
    let document = [PROVISION, AWS, AZURE, GCP, OPEN_STACK].concat();
    let types = "ProvisionRuntimeInput RuntimeInput ClusterConfigInput GardenerConfigInput \
        DNSConfigInput DNSProviderInput OIDCConfigInput KymaConfigInput \
        ComponentConfigurationInput ConfigEntryInput ProviderSpecificInput GCPProviderConfigInput \
        AzureZoneInput AzureProviderConfigInput AWSProviderConfigInput AWSZoneInput \
        OpenStackProviderConfigInput";

    for name in types.split_whitespace() {
        for (field, _) in schema.members(name) {
            assert!(document.contains(&format!("{field}:")), "{name}.{field} is not sent");
        }
    }
}
