//! How strictly values are taken.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::{recorder::Asked, service::Service};

const SHOOT: &str = "mutation($config: UpgradeShootInput!) {
    upgradeShoot(id: \"r\", config: $config) { id } }";
const PROVISION: &str = "mutation($config: ProvisionRuntimeInput!) {
    provisionRuntime(config: $config) { id } }";

fn shoot(config: &Value) -> Value {
    json!({"config": {"gardenerConfig": config}})
}

#[tokio::test]
async fn a_number_may_come_as_text_in_variables() {
    let service = Service::start().await;
    let query = "mutation($min: Int, $max: Int) { upgradeShoot(id: \"r\", config: {
        gardenerConfig: {autoScalerMin: $min, autoScalerMax: $max}}) { id } }";

    service.run_with(SHOOT, shoot(&json!({"autoScalerMin": "3", "autoScalerMax": 5}))).await.data();
    let Asked::UpgradeShoot(_, nested) = service.runtimes.asked() else { panic!() };
    service.run_with(query, json!({"min": "-2"})).await.data();
    let Asked::UpgradeShoot(_, alone) = service.runtimes.asked() else { panic!() };

    assert_eq!((nested.auto_scaler_min, nested.auto_scaler_max), (Some(3), Some(5)));
    assert_eq!((alone.auto_scaler_min, alone.auto_scaler_max), (Some(-2), None));
}

#[tokio::test]
async fn variables_that_do_not_fit_are_422_with_their_path() {
    let service = Service::start().await;
    let cases = [
        (json!({}), "must be defined", json!(["variable", "config"])),
        (json!({"config": null}), "cannot be null", json!(["variable", "config"])),
        (
            json!({"config": []}),
            "cannot use list as UpgradeShootInput",
            json!(["variable", "config"]),
        ),
        (json!({"config": {}}), "must be defined", json!(["variable", "config", "gardenerConfig"])),
        (
            json!({"config": {"gardenerConfig": {}, "more": 1}}),
            "unknown field",
            json!(["variable", "config", "more"]),
        ),
        (
            shoot(&json!({"region": "eu"})),
            "unknown field",
            json!(["variable", "config", "gardenerConfig", "region"]),
        ),
        (
            shoot(&json!({"machineType": 5})),
            "cannot use number as String",
            json!(["variable", "config", "gardenerConfig", "machineType"]),
        ),
        (
            shoot(&json!({"maxSurge": "many"})),
            "cannot use string as Int",
            json!(["variable", "config", "gardenerConfig", "maxSurge"]),
        ),
        (
            shoot(&json!({"maxSurge": 1.5})),
            "cannot use number as Int",
            json!(["variable", "config", "gardenerConfig", "maxSurge"]),
        ),
        (
            shoot(&json!({"maxSurge": 3_000_000_000_u32})),
            "cannot use number as Int",
            json!(["variable", "config", "gardenerConfig", "maxSurge"]),
        ),
        (
            shoot(&json!({"shootNetworkingFilterDisabled": "true"})),
            "cannot use string as Boolean",
            json!(["variable", "config", "gardenerConfig", "shootNetworkingFilterDisabled"]),
        ),
        (
            json!({"config": {"gardenerConfig": {}, "administrators": "ada"}}),
            "must be an array",
            json!(["variable", "config", "administrators"]),
        ),
        (
            json!({"config": {"gardenerConfig": {}, "administrators": ["ada", null]}}),
            "cannot be null",
            json!(["variable", "config", "administrators", 1]),
        ),
    ];

    for (variables, message, path) in cases {
        let reply = service.run_with(SHOOT, variables.clone()).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{variables}: {}", reply.text);
        let expected = json!({
            "message": message, "path": path,
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        });
        assert_eq!(reply.error(), expected, "{variables}");
    }
    assert_eq!(service.runtimes.calls(), []);
}

#[tokio::test]
async fn enumerations_and_labels_in_variables_are_checked() {
    let service = Service::start().await;
    let config = |kyma: Value, labels: Value| {
        json!({"config": {
            "runtimeInput": {"name": "n", "labels": labels},
            "clusterConfig": {"gardenerConfig": {
                "name": "c", "provider": "gcp", "targetSecret": "s", "region": "r", "workerCidr": "w",
                "providerSpecificConfig": {"gcpConfig": {"zones": ["a"]}},
            }},
            "kymaConfig": {"version": "2", "profile": kyma},
        }})
    };

    service.run_with(PROVISION, config(json!("Production"), json!({"a": [1]}))).await.data();
    let Asked::Provision(request) = service.runtimes.asked() else { panic!() };
    let profile = service.run_with(PROVISION, config(json!("Large"), json!({}))).await;
    let labels = service.run_with(PROVISION, config(Value::Null, json!(["a"]))).await;

    assert_eq!(Value::from(request.labels), json!({"a": [1]}));
    assert_eq!(profile.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(profile.error()["message"], "Large is not a valid KymaProfile");
    assert_eq!(labels.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(labels.error()["message"], "cannot use list as Labels");
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
    assert_eq!(service.runtimes.calls(), []);
    service.run(&profile("Production")).await.data();
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
    assert_eq!(service.runtimes.calls(), []);
}

#[tokio::test]
async fn defaults_and_absent_variables_count() {
    let service = Service::start().await;
    let query = "mutation($id: String! = \"standard\", $type: String, $n: Int = 7) {
        upgradeShoot(id: $id, config: {gardenerConfig: {machineType: $type, maxSurge: $n}}) { id } }";

    service.run_with(query, json!({"undeclared": true})).await.data();

    let Asked::UpgradeShoot(id, request) = service.runtimes.asked() else { panic!() };
    assert_eq!(id, "standard");
    assert_eq!((request.machine_type, request.max_surge), (None, Some(7)));
}
