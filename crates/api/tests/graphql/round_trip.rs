//! Every field that a client sends is stored, and leaves again with the runtime's status.

mod gaps;
mod samples;

use serde_json::{Value, json};

use crate::{schema::ClientSchema, service::Service};
use samples::{PROVISION, cases};

pub(crate) use samples::{AWS, AZURE, GCP, OPEN_STACK, new_runtime};

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
