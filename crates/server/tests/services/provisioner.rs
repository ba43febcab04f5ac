//! The provisioner from outside: GraphQL over a socket, against the landscape of `kcp up`.

use std::{path::Path, time::Duration};

use base::Clock;
use bench::runtimes::{self, Load};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use server::{settings, up::Up};

use crate::support::{free_ports, options};

async fn start(data: &Path) -> Up {
    let settings = settings::load(None).unwrap();
    Up::start(options(free_ports(), data, "max", settings)).await.unwrap()
}

struct Client<'a> {
    up: &'a Up,
    http: reqwest::Client,
}

impl Client<'_> {
    /// Asks as the reference's clients do: values in the text, `result` as the alias.
    async fn ask(&self, query: &str) -> Value {
        let asked = self
            .http
            .post(format!("{}/graphql", self.up.connection.provisioner))
            .bearer_auth(self.up.connection.token.expose_secret())
            .header("tenant", "ga-1")
            .header("sub-account", "sa-1")
            .json(&json!({"query": query, "variables": null}));
        let answer = asked.send().await.unwrap();
        assert_eq!(answer.status(), 200, "{query}");
        answer.json().await.unwrap()
    }

    async fn result(&self, query: &str) -> Value {
        let answer = self.ask(query).await;
        assert!(answer["errors"].is_null(), "{query}\n{answer}");
        answer["data"]["result"].clone()
    }

    /// Follows an operation to its end.
    async fn success(&self, operation: &Value) -> Value {
        let id = operation.as_str().or_else(|| operation["id"].as_str()).unwrap();
        let query = format!(
            "query {{ result: runtimeOperationStatus(id: \"{id}\") \
             {{ operation state message errors lastError {{ errMessage reason component }} }} }}"
        );
        for _ in 0..1_200 {
            let status = self.result(&query).await;
            match status["state"].as_str().unwrap() {
                "InProgress" => Clock::running().sleep(Duration::from_millis(50)).await,
                "Succeeded" => return status,
                _ => panic!("{status}"),
            }
        }
        panic!("operation {id} does not end");
    }
}

/// Provider, its part of the configuration, and a change that it allows.
const PROVIDERS: [(&str, &str, &str); 4] = [
    (
        "aws",
        "region: \"eu-central-1\" workerCidr: \"10.250.0.0/16\" providerSpecificConfig: { awsConfig: { vpcCidr: \"10.250.0.0/16\" awsZones: [{ name: \"eu-central-1a\" workerCidr: \"10.250.0.0/19\" publicCidr: \"10.250.32.0/20\" internalCidr: \"10.250.48.0/20\" }] } }",
        "machineType: \"m5.2xlarge\"",
    ),
    (
        "azure",
        "region: \"westeurope\" workerCidr: \"10.250.0.0/20\" providerSpecificConfig: { azureConfig: { vnetCidr: \"10.250.0.0/20\" azureZones: [{ name: 1 cidr: \"10.250.0.0/23\" }] enableNatGateway: true } }",
        "providerSpecificConfig: { azureConfig: { vnetCidr: \"10.250.0.0/20\" azureZones: [{ name: 1 cidr: \"10.250.0.0/23\" }] enableNatGateway: true idleConnectionTimeoutMinutes: 8 } }",
    ),
    (
        "gcp",
        "region: \"europe-west3\" workerCidr: \"10.250.0.0/22\" providerSpecificConfig: { gcpConfig: { zones: [\"europe-west3-a\"] } }",
        "providerSpecificConfig: { gcpConfig: { zones: [\"europe-west3-a\", \"europe-west3-b\"] } }",
    ),
    (
        "openstack",
        "region: \"eu-de-1\" workerCidr: \"10.250.0.0/22\" providerSpecificConfig: { openStackConfig: { zones: [\"eu-de-1a\"] loadBalancerProvider: \"f5\" } }",
        "autoScalerMax: 12",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_mutation_and_query_works_over_a_socket_for_each_provider() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path()).await;
    let client = Client { up: &up, http: reqwest::Client::new() };

    for (provider, part, change) in PROVIDERS {
        let made = client
            .result(&format!(
                "mutation {{ result: provisionRuntime(config: {{ runtimeInput: {{ name: \"demo-{provider}\" labels: {{ team: \"blue\" }} }} \
                 clusterConfig: {{ administrators: [\"ada@example.org\"] gardenerConfig: {{ name: \"d-{provider}\" \
                 provider: \"{provider}\" targetSecret: \"{provider}-free-1\" {part} }} }} \
                 kymaConfig: {{ version: \"1.22.0\" }} }}) {{ id operation state runtimeID }} }}"
            ))
            .await;
        let id = made["runtimeID"].as_str().unwrap().to_owned();
        assert_eq!(made["operation"], "Provision");
        client.success(&made).await;

        let status = client
            .result(&format!(
                "query {{ result: runtimeStatus(id: \"{id}\") {{ \
                 lastOperationStatus {{ operation state message lastError {{ errMessage }} }} \
                 runtimeConnectionStatus {{ status errors {{ message }} }} \
                 hibernationStatus {{ hibernated hibernationPossible }} \
                 runtimeConfiguration {{ kubeconfig clusterConfig {{ name kubernetesVersion seed provider \
                 providerSpecificConfig {{ ... on AWSProviderConfig {{ vpcCidr }} ... on AzureProviderConfig {{ vnetCidr }} \
                 ... on GCPProviderConfig {{ zones }} ... on OpenStackProviderConfig {{ floatingPoolName }} }} \
                 oidcConfig {{ clientID }} }} kymaConfig {{ version components {{ component }} }} }} }} }}"
            ))
            .await;
        assert_eq!(status["runtimeConnectionStatus"]["status"], "Connected", "{status}");
        assert_eq!(status["hibernationStatus"]["hibernated"], false);
        let configuration = &status["runtimeConfiguration"];
        assert!(configuration["kubeconfig"].as_str().unwrap().contains("apiVersion"));
        assert_eq!(configuration["clusterConfig"]["provider"], provider);
        assert!(configuration["clusterConfig"]["seed"].is_string());
        assert_eq!(configuration["kymaConfig"]["version"], "1.22.0");

        let busy_or_begun = |answer: &Value| answer["errors"].is_null();
        let mutations = [
            format!(
                "upgradeRuntime(id: \"{id}\", config: {{ kymaConfig: {{ version: \"1.24.11\" }} }}) {{ id operation }}"
            ),
            format!(
                "upgradeShoot(id: \"{id}\", config: {{ gardenerConfig: {{ {change} }} administrators: [\"ada@example.org\"] }}) {{ id operation }}"
            ),
            format!("reconnectRuntimeAgent(id: \"{id}\")"),
            format!("hibernateRuntime(id: \"{id}\") {{ id operation }}"),
            format!("deprovisionRuntime(id: \"{id}\")"),
        ];
        for mutation in mutations {
            let answer = client.ask(&format!("mutation {{ result: {mutation} }}")).await;
            assert!(busy_or_begun(&answer), "{mutation}\n{answer}");
            client.success(&answer["data"]["result"]).await;
            if mutation.starts_with("upgradeRuntime") {
                let back = format!(
                    "mutation {{ result: rollBackUpgradeOperation(id: \"{id}\") \
                     {{ runtimeConfiguration {{ kymaConfig {{ version }} }} }} }}"
                );
                let back = client.result(&back).await;
                assert_eq!(back["runtimeConfiguration"]["kymaConfig"]["version"], "1.22.0");
            }
        }
    }
    up.stop().await;
}

/// `KCP_RUNTIMES` makes it more than the fifty of every day.
#[tokio::test(flavor = "multi_thread")]
async fn many_runtimes_at_once_are_all_made_and_all_removed() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path()).await;
    let runtimes = std::env::var("KCP_RUNTIMES").map_or(50, |count| count.parse().unwrap());
    let load = Load {
        provisioner: up.connection.provisioner.clone(),
        token: up.connection.token.clone(),
        runtimes,
        kyma: None,
    };

    let seen = runtimes::run(load).await.unwrap();

    println!("{}", seen.text());
    assert_eq!(seen.runtimes, runtimes);
    up.stop().await;
}
