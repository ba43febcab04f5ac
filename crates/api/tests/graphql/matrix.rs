//! Which situation has which status and which body: answers, routes and queries by GET.

mod bodies;
mod documents;

use axum::{body::Body, http::StatusCode};
use serde_json::json;

use crate::service::{Service, UNKNOWN};

const ASK: &str = "query One { runtimeOperationStatus(id: \"o\") { state } }";
const CHANGE: &str = "mutation { deprovisionRuntime(id: \"r\") }";

#[tokio::test]
async fn an_executed_query_is_200_with_data_alone() {
    let service = Service::start().await;

    let reply = service.run(ASK).await;

    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.headers["content-type"], "application/json");
    assert_eq!(reply.text, r#"{"data":{"runtimeOperationStatus":{"state":"Succeeded"}}}"#);
}

#[tokio::test]
async fn an_executed_query_with_a_failure_is_200_with_errors_before_data() {
    let service = Service::start().await;
    let reply = service.run(&ASK.replace("\"o\"", &format!("\"{UNKNOWN}\""))).await;

    assert_eq!(reply.status, StatusCode::OK);
    let expected = concat!(
        r#"{"errors":[{"message":"failed to get Runtime Operation Status, Operation not found for id: "#,
        r#"5d1c0c1e-0000-4000-8000-000000000001","path":["runtimeOperationStatus"],"#,
        r#""extensions":{"error_code":2,"error_component":"db - provisioner","#,
        r#""error_reason":"err_db_not_found"}}],"data":{"runtimeOperationStatus":null}}"#,
    );
    assert_eq!(reply.text, expected);
}

#[tokio::test]
async fn get_serves_queries() {
    let service = Service::start().await;
    let query = "query A($id: String!) { a: runtimeOperationStatus(id: $id) { id runtimeID } }
        query B { runtimeOperationStatus(id: \"no\") { id } }";

    let reply = service
        .get(&[
            ("query", query),
            ("operationName", "A"),
            ("variables", r#"{"id":"o"}"#),
            ("extensions", "{}"),
        ])
        .await;

    let expected = json!({"a": {"id": service.operation, "runtimeID": service.runtime}});
    assert_eq!(reply.data(), expected);
    assert_eq!(reply.headers["content-type"], "application/json");
}

#[tokio::test]
async fn get_with_parameters_that_are_not_json_is_400() {
    let service = Service::start().await;

    for name in ["variables", "extensions"] {
        for text in ["{", "[]", "1"] {
            let reply = service.get(&[("query", ASK), (name, text)]).await;

            assert_eq!(reply.status, StatusCode::BAD_REQUEST);
            assert_eq!(reply.error(), json!({"message": format!("{name} could not be decoded")}));
        }
    }
}

#[tokio::test]
async fn get_with_a_mutation_is_406_and_changes_nothing() {
    let service = Service::start().await;
    let both = format!("{ASK} mutation M {{ deprovisionRuntime(id: \"r\") }}");

    for parameters in [vec![("query", CHANGE)], vec![("query", &both), ("operationName", "M")]] {
        let reply = service.get(&parameters).await;

        assert_eq!(reply.status, StatusCode::NOT_ACCEPTABLE);
        let message = "GET requests only allow query operations";
        assert_eq!(reply.json(), json!({"errors": [{"message": message}], "data": null}));
    }
    assert_eq!(service.operations().await, 1);
    service.get(&[("query", &both), ("operationName", "One")]).await.data();
}

#[tokio::test]
async fn the_path_matches_exactly() {
    let service = Service::start().await;

    for path in ["/graphql/", "/graphql/x", "/query"] {
        let reply = service.send(service.request("POST", path).body(Body::empty()).unwrap()).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn health_readiness_and_version_are_served_without_a_token() {
    let service = Service::start().await;
    let get = async |path: &str| {
        let request = axum::http::Request::builder().uri(path).body(Body::empty()).unwrap();
        service.send(request).await
    };

    let health = get("/healthz").await;
    assert_eq!((health.status, health.text.as_str()), (StatusCode::OK, "ok"));
    assert_eq!(health.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(get("/readyz").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(get("/version").await.status, StatusCode::OK);
}
