//! How strictly values are taken.

mod variables;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::service::{PROVISION as ORDER, Service};

const SHOOT: &str = "mutation($config: UpgradeShootInput!) {
    upgradeShoot(id: \"r\", config: $config) { id } }";
const PROVISION: &str = "mutation($config: ProvisionRuntimeInput!) {
    provisionRuntime(config: $config) { id } }";

fn shoot(config: &Value) -> Value {
    json!({"config": {"gardenerConfig": config}})
}

/// The order of a cluster with these declared variables, fields and values.
async fn ordered(service: &Service, declared: &str, more: &str, variables: Value) -> Value {
    let query = ORDER.replace("NAME", "c-1").replace("MORE", more);
    let query = query.replacen("mutation", &format!("mutation({declared})"), 1);
    let ordered = service.run_with(&query, variables).await.data();
    let runtime = ordered["result"]["runtimeID"].as_str().unwrap();
    let query = format!(
        "{{ runtimeStatus(id: \"{runtime}\") {{ runtimeConfiguration {{ clusterConfig {{
            maxSurge maxUnavailable seed }} }} }} }}"
    );
    service.run(&query).await.data()["runtimeStatus"]["runtimeConfiguration"]["clusterConfig"]
        .clone()
}

#[tokio::test]
async fn a_number_may_come_as_text_in_variables() {
    let service = Service::start().await;
    let fields = "maxSurge: $surge, maxUnavailable: $unavailable";
    let variables = json!({"surge": "3", "unavailable": 5});

    let cluster = ordered(&service, "$surge: Int, $unavailable: Int", fields, variables).await;

    assert_eq!(cluster, json!({"maxSurge": 3, "maxUnavailable": 5, "seed": null}));
}

#[tokio::test]
async fn literals_are_taken_strictly() {
    let service = Service::start().await;
    let shoot =
        |config: &str| format!("mutation {{ upgradeShoot(id: \"r\", config: {config}) {{ id }} }}");
    let wrong = [
        "5",
        "\"text\"",
        "[]",
        "{}",
        "null",
        "{gardenerConfig: 5}",
        "{gardenerConfig: {maxSurge: \"3\"}}",
        "{gardenerConfig: {maxSurge: 1.5}}",
        "{gardenerConfig: {maxSurge: 3000000000}}",
        "{gardenerConfig: {machineType: 3}}",
        "{gardenerConfig: {machineType: large}}",
        "{gardenerConfig: {workers: 1}}",
        "{gardenerConfig: {providerSpecificConfig: {azureConfig: {}}}}",
        "{gardenerConfig: {}, administrators: [null]}",
        "{gardenerConfig: {}, administrators: [1]}",
    ];
    let profile = |word: &str| {
        format!(
            "mutation {{ upgradeRuntime(id: \"r\", config: {{kymaConfig: {{
            version: \"2\", profile: {word}}}}}) {{ id }} }}"
        )
    };
    let documents =
        wrong.map(shoot).into_iter().chain(["\"Production\"", "Large", "1"].map(profile));

    for document in documents {
        let reply = service.run(&document).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{document}: {}", reply.text);
        let error = reply.json()["errors"][0].clone();
        assert_eq!(error["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{document}");
        assert!(error["locations"].is_array(), "{error}");
    }
    assert_eq!(service.operations().await, 1);
    assert_eq!(service.run(&profile("Production")).await.status, StatusCode::OK);
    service.run(&shoot("{gardenerConfig: {maxSurge: 2147483647}}")).await.data();
}

#[tokio::test]
async fn a_bad_value_in_a_later_mutation_keeps_the_earlier_ones_from_running() {
    let service = Service::start().await;
    let query = "mutation($config: UpgradeShootInput!) {
        a: deprovisionRuntime(id: \"r\") b: upgradeShoot(id: \"r\", config: $config) { id } }";
    let literal = "mutation { ...All } fragment All on Mutation {
        a: deprovisionRuntime(id: \"r\") b: upgradeShoot(id: \"r\", config: 5) { id } }";

    let missing = service.run(query).await;
    let wrong = service.run(literal).await;

    assert_eq!(missing.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(service.operations().await, 1);
}

#[tokio::test]
async fn defaults_and_absent_variables_count() {
    let service = Service::start().await;
    let declared = "$seed: String, $n: Int = 7";
    let fields = "seed: $seed, maxSurge: $n, maxUnavailable: 1";

    let cluster = ordered(&service, declared, fields, json!({"undeclared": true})).await;

    assert_eq!(cluster, json!({"maxSurge": 7, "maxUnavailable": 1, "seed": null}));
}
