//! How failures of use cases reach clients.

use axum::http::StatusCode;
use provisioner::{Error, error::Code};
use serde_json::{Value, json};

use crate::{recorder::BREAKING, sample::UNKNOWN, service::Service};

const NULLABLE: [&str; 7] = [
    "mutation { result: upgradeRuntime(id: \"r\", config: {}) { id } }",
    "mutation { result: upgradeShoot(id: \"r\", config: {gardenerConfig: {}}) { id } }",
    "mutation { result: hibernateRuntime(id: \"r\") { id } }",
    "mutation { result: rollBackUpgradeOperation(id: \"r\") { lastOperationStatus { id } } }",
    "{ result: runtimeStatus(id: \"r\") { lastOperationStatus { id } } }",
    "{ result: runtimeOperationStatus(id: \"o\") { id } }",
    "mutation { result: provisionRuntime(config: {runtimeInput: {name: \"n\"}, clusterConfig: {
        gardenerConfig: {name: \"c\", provider: \"gcp\", targetSecret: \"s\", region: \"r\",
        workerCidr: \"w\", providerSpecificConfig: {gcpConfig: {zones: []}}}}}) { id } }",
];
const REQUIRED: [&str; 2] = [
    "mutation { result: deprovisionRuntime(id: \"r\") }",
    "mutation { result: reconnectRuntimeAgent(id: \"r\") }",
];

#[tokio::test]
async fn a_failure_makes_a_nullable_field_null_and_names_its_alias() {
    let service = Service::start().await;
    service.runtimes.fail(&Error::bad("no"));

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
    service.runtimes.fail(&Error::bad("no"));

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
        "mutation {{ a: hibernateRuntime(id: \"r\") {{ id }} b: deprovisionRuntime(id: \"{UNKNOWN}\") }}"
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

    assert_eq!(reply.json()["data"], json!({"a": null, "b": {"state": "InProgress"}}));
    assert_eq!(reply.error()["path"], json!(["a"]));
}

#[tokio::test]
async fn every_code_leaves_as_a_number_with_component_and_reason() {
    let service = Service::start().await;
    let codes = [
        (Code::BadRequest, 400),
        (Code::Forbidden, 403),
        (Code::Internal, 500),
        (Code::External, 501),
        (Code::BadGateway, 502),
        (Code::Database, 1),
        (Code::NotFound, 2),
    ];

    for (code, number) in codes {
        service.runtimes.fail(&Error {
            message: "100% wrong".into(),
            code,
            reason: "ERR_INFRA_QUOTA_EXCEEDED".into(),
            component: "gardener".into(),
        });
        let error = service.run(NULLABLE[4]).await.error();

        assert_eq!(error["message"], "100% wrong");
        let expected = json!({
            "error_code": number,
            "error_component": "gardener",
            "error_reason": "ERR_INFRA_QUOTA_EXCEEDED",
        });
        assert_eq!(error["extensions"], expected);
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error_that_says_nothing_of_its_cause() {
    let service = Service::start().await;
    let expected = json!({
        "error_code": 500,
        "error_component": "provisioner",
        "error_reason": "err_provisioner_internal",
    });

    for (query, data) in [
        (
            format!("{{ runtimeOperationStatus(id: \"{BREAKING}\") {{ id }} }}"),
            json!({"runtimeOperationStatus": null}),
        ),
        (format!("mutation {{ deprovisionRuntime(id: \"{BREAKING}\") }}"), Value::Null),
    ] {
        let reply = service.run(&query).await;

        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.error()["message"], "internal system error");
        assert_eq!(reply.error()["extensions"], expected);
        assert_eq!(reply.json()["data"], data);
        assert!(!reply.text.contains("secret"));
    }
}
