//! How failures of use cases reach clients.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::service::{PROVISION, Service, UNKNOWN};

const NULLABLE: [&str; 7] = [
    "mutation { result: upgradeRuntime(id: \"5d1c0c1e-0000-4000-8000-000000000001\", config: {}) { id } }",
    "mutation { result: upgradeShoot(id: \"5d1c0c1e-0000-4000-8000-000000000001\", config: {gardenerConfig: {}}) { id } }",
    "mutation { result: hibernateRuntime(id: \"5d1c0c1e-0000-4000-8000-000000000001\") { id } }",
    "mutation { result: rollBackUpgradeOperation(id: \"5d1c0c1e-0000-4000-8000-000000000001\") { lastOperationStatus { id } } }",
    "{ result: runtimeStatus(id: \"5d1c0c1e-0000-4000-8000-000000000001\") { lastOperationStatus { id } } }",
    "{ result: runtimeOperationStatus(id: \"5d1c0c1e-0000-4000-8000-000000000001\") { id } }",
    "mutation { result: provisionRuntime(config: {runtimeInput: {name: \"n\"}, clusterConfig: {
        gardenerConfig: {name: \"c\", provider: \"gcp\", targetSecret: \"s\", region: \"r\",
        workerCidr: \"w\", providerSpecificConfig: {gcpConfig: {zones: []}}}}}) { id } }",
];
const REQUIRED: [&str; 2] = [
    "mutation { result: deprovisionRuntime(id: \"5d1c0c1e-0000-4000-8000-000000000001\") }",
    "mutation { result: reconnectRuntimeAgent(id: \"5d1c0c1e-0000-4000-8000-000000000001\") }",
];

#[tokio::test]
async fn a_failure_makes_a_nullable_field_null_and_names_its_alias() {
    let service = Service::start().await;

    for query in NULLABLE {
        let reply = service.run(query).await;

        assert_eq!(reply.status, StatusCode::OK, "{query}: {}", reply.text);
        assert_eq!(reply.json()["data"], json!({"result": null}), "{query}");
        assert_eq!(reply.error()["path"], json!(["result"]), "{query}");
        assert_eq!(reply.error().get("locations"), None, "{query}");
    }
}

#[tokio::test]
async fn a_failure_of_a_field_that_cannot_be_null_makes_the_data_null() {
    let service = Service::start().await;

    for query in REQUIRED {
        let reply = service.run(query).await;

        assert_eq!(reply.status, StatusCode::OK, "{query}");
        assert_eq!(reply.json()["data"], Value::Null, "{query}");
        assert_eq!(reply.error()["path"], json!(["result"]), "{query}");
        assert_eq!(reply.error().get("locations"), None, "{query}");
    }
}

#[tokio::test]
async fn data_is_null_as_a_whole_even_when_other_fields_have_answers() {
    let service = Service::start().await;
    let query = format!(
        "{} b: deprovisionRuntime(id: \"{UNKNOWN}\") }}",
        PROVISION.replace("NAME", "c-1").replace("MORE", "").trim_end_matches('}'),
    );

    let reply = service.run(&query).await;

    assert_eq!(reply.json()["data"], Value::Null);
    assert_eq!(reply.error()["path"], json!(["b"]));
}

#[tokio::test]
async fn one_failed_field_leaves_the_others_their_answers() {
    let service = Service::start().await;
    let query = format!(
        "{{ a: runtimeOperationStatus(id: \"{UNKNOWN}\") {{ state }}
            b: runtimeOperationStatus(id: \"o\") {{ state }} }}"
    );

    let reply = service.run(&query).await;

    assert_eq!(reply.json()["data"], json!({"a": null, "b": {"state": "Succeeded"}}));
    assert_eq!(reply.error()["path"], json!(["a"]));
}
