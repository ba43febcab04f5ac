//! The broker of the original, as the provisioner sees it.

use std::time::Duration;

use base::Clock;
use serde_json::{Value, json};

use super::{PEER, answer, start, text};
use crate::platform::Platform;

/// The broker, which leaves tokens to its mesh.
pub(super) struct Broker {
    pub(super) http: reqwest::Client,
    url: String,
}

impl Broker {
    pub(super) async fn ask(&self, tenant: &str, query: &str) -> Value {
        let asked = self.http.post(format!("{}/graphql", self.url)).header("tenant", tenant);
        let asked = asked.json(&json!({"query": query, "variables": null}));
        let (status, answer) = answer(asked).await;
        assert!(status == 200 && answer["errors"].is_null(), "{query}: {status} {answer}");
        answer["data"]["result"].clone()
    }

    /// Follows an operation, and tells its message.
    async fn success(&self, tenant: &str, operation: &str) -> String {
        let query = format!(
            "query {{ result: runtimeOperationStatus(id: \"{operation}\") \
             {{ id operation state message runtimeID lastError {{ errMessage reason component }} }} }}"
        );
        for _ in 0..1_200 {
            let status = self.ask(tenant, &query).await;
            match &*text(&status["state"]) {
                "InProgress" => Clock::running().sleep(Duration::from_millis(50)).await,
                "Succeeded" => return text(&status["message"]),
                _ => panic!("{status}"),
            }
        }
        panic!("{operation} does not end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_broker_of_the_original_is_served_without_a_token_from_order_to_removal() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), &[PEER]).await;
    let broker = Broker { http: reqwest::Client::new(), url: up.connection.provisioner.clone() };
    let status = "id operation state message runtimeID lastError { errMessage reason component }";
    let made = broker
        .ask(
            "ga-1",
            &format!(
                "mutation {{ result: provisionRuntime(config: {{ \
                 runtimeInput: {{ name: \"one-abcde\", labels: {{ broker_instance_id: \"i-1\", global_subaccount_id: \"sa-1\", }}, }}, \
                 clusterConfig: {{ gardenerConfig: {{ name: \"c-1a2b3c4\", kubernetesVersion: \"1.32.4\", volumeSizeGB: 50, \
                 machineType: \"m5.xlarge\", machineImage: \"gardenlinux\", region: \"eu-central-1\", provider: \"aws\", \
                 purpose: \"development\", diskType: \"gp2\", targetSecret: \"aws-free-1\", workerCidr: \"10.250.0.0/16\", \
                 autoScalerMin: 3, autoScalerMax: 10, maxSurge: 1, maxUnavailable: 0, \
                 enableKubernetesVersionAutoUpdate: false, enableMachineImageVersionAutoUpdate: false, \
                 providerSpecificConfig: {{ awsConfig: {{ vpcCidr: \"10.250.0.0/16\", awsZones: [ {{ name: \"eu-central-1a\", \
                 workerCidr: \"10.250.0.0/19\", publicCidr: \"10.250.32.0/20\", internalCidr: \"10.250.48.0/20\", }} ] }}, }} \
                 oidcConfig: {{ clientID: \"people\", issuerURL: \"https://issuer.example.test\", groupsClaim: \"groups\", \
                 signingAlgs: [\"RS256\"], usernameClaim: \"sub\", usernamePrefix: \"-\", }} \
                 dnsConfig: {{ domain: \"c-1a2b3c4.kyma.example.test\", }} euAccess: false, }}, \
                 administrators: [\"jo@example.test\"], }}, }}) {{ {status} }} }}"
            ),
        )
        .await;
    let id = text(&made["runtimeID"]);
    broker.success("ga-1", &text(&made["id"])).await;

    // The kubeconfig is read through the same door.
    let look = format!(
        "query {{ result: runtimeStatus(id: \"{id}\") {{ runtimeConfiguration {{ kubeconfig clusterConfig {{ kubernetesVersion autoScalerMax }} }} }} }}"
    );
    let seen = broker.ask("ga-1", &look).await["runtimeConfiguration"].clone();
    assert!(text(&seen["kubeconfig"]).contains("apiVersion"));

    // Its configured version comes with every upgrade, also where the cluster has a higher one by now.
    let upgrade = format!(
        "mutation {{ result: upgradeShoot(id: \"{id}\", config: {{ gardenerConfig: {{ kubernetesVersion: \"1.32.1\", \
         machineImage: \"gardenlinux\", autoScalerMin: 3, autoScalerMax: 12, }}, administrators: [\"jo@example.test\"], }}) {{ {status} }} }}"
    );
    let begun = broker.ask("ga-1", &upgrade).await;
    let message = broker.success("ga-1", &text(&begun["id"])).await;
    assert!(message.contains("1.32.4"), "{message}");
    let seen = broker.ask("ga-1", &look).await["runtimeConfiguration"]["clusterConfig"].clone();
    assert_eq!(seen, json!({"kubernetesVersion": "1.32.4", "autoScalerMax": 12}));

    // The account has moved: the removal comes from the new one.
    let removal = format!("mutation {{ result: deprovisionRuntime(id: \"{id}\") }}");
    let removal = text(&broker.ask("ga-2", &removal).await);
    broker.success("ga-2", &removal).await;
    let platform = Platform::of(&up).await;
    let left = platform.things().await;
    assert!(!left.iter().any(|thing| thing.1 == "shoot" || thing.1 == "runtime"), "{left:?}");
    up.stop().await;
}
