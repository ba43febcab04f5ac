//! Which document runs, and what is answered for one that does not.

use axum::{body::Body, http::StatusCode};
use serde_json::{Value, json};

use super::ASK;
use crate::service::Service;

#[tokio::test]
async fn a_syntax_error_is_422_with_its_code() {
    let service = Service::start().await;

    for query in ["query {", "{ runtimeStatus(id: ) { kubeconfig } }", "nonsense", "{ }"] {
        let reply = service.run(query).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
        assert_eq!(reply.error()["extensions"], json!({"code": "GRAPHQL_PARSE_FAILED"}), "{query}");
        assert_eq!(reply.json()["data"], Value::Null);
        assert_eq!(reply.headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn where_there_is_no_operation_the_answer_is_200_and_says_so() {
    let service = Service::start().await;
    let get = service.request("GET", "/graphql").body(Body::empty()).unwrap();

    for reply in [service.run("").await, service.post(&json!({})).await, service.send(get).await] {
        assert_eq!(reply.status, StatusCode::OK);
        let error = json!({"message": "operation  not found"});
        assert_eq!(reply.json(), json!({"errors": [error], "data": null}));
    }
    let unknown = json!({"query": "query A { __typename }", "operationName": "B"});
    let reply = service.post(&unknown).await;
    assert_eq!(reply.status, StatusCode::OK);
    let error = json!({"message": "operation B not found"});
    assert_eq!(reply.json(), json!({"errors": [error], "data": null}));
}

#[tokio::test]
async fn a_document_that_does_not_fit_the_schema_is_422_with_its_code() {
    let service = Service::start().await;
    let wrong = [
        "{ runtimeStatuses(id: \"r\") { kubeconfig } }",
        "{ runtimeOperationStatus(id: \"o\") { unknown } }",
        "{ runtimeOperationStatus(id: \"o\", more: 1) { state } }",
        "{ runtimeOperationStatus { state } }",
        "{ runtimeOperationStatus(id: 1) { state } }",
        "{ runtimeOperationStatus(id: \"o\") }",
        "{ runtimeOperationStatus(id: \"o\") { ...Missing } }",
        "query($id: Nothing!) { runtimeOperationStatus(id: $id) { state } }",
        "query($unused: String) { runtimeOperationStatus(id: \"o\") { state } }",
        "{ runtimeOperationStatus(id: $undeclared) { state } }",
        "mutation { provisionRuntime(config: {}) { id } }",
        "subscription { runtimeOperationStatus(id: \"o\") { state } }",
    ];

    for query in wrong {
        let reply = service.run(query).await;

        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}: {}", reply.text);
        let errors = reply.json()["errors"].as_array().unwrap().clone();
        for error in errors {
            let code = &error["extensions"]["code"];
            assert_eq!(code, "GRAPHQL_VALIDATION_FAILED", "{query}: {error}");
        }
        assert_eq!(reply.json()["data"], Value::Null);
    }
    assert_eq!(service.operations().await, 1);
}

#[tokio::test]
async fn the_named_operation_runs_and_one_that_is_not_there_is_200_without_data() {
    let service = Service::start().await;
    let two = format!("{ASK} query Two {{ two: runtimeOperationStatus(id: \"o\") {{ state }} }}");
    let named =
        async |name: Value| service.post(&json!({"query": two, "operationName": name})).await;

    let second = named(json!("Two")).await;
    let third = named(json!("Three")).await;
    let none = named(Value::Null).await;
    let empty = service.post(&json!({"query": ASK, "operationName": ""})).await;

    assert_eq!(second.data(), json!({"two": {"state": "Succeeded"}}));
    for missing in [third, none] {
        assert_eq!(missing.status, StatusCode::OK);
        assert_eq!(missing.json()["data"], Value::Null);
        let error = missing.error();
        assert_eq!(error.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
    }
    empty.data();
}
