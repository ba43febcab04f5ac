//! Which situation has which status and which body.

use axum::{body::Body, http::StatusCode};
use serde_json::{Value, json};

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
async fn what_follows_the_object_of_a_body_is_not_looked_at() {
    let service = Service::start().await;
    let post = async |body: &'static str| {
        let request =
            service.request("POST", "/graphql").header("content-type", "application/json");
        let request = request.body(Body::from(body)).unwrap();
        service.send(request).await
    };

    let trailing = post(r#"{"query":"{__typename}"} trailing"#).await;
    let list = post(r#"["{__typename}",null,null,null]"#).await;
    let nothing = post("").await;

    assert_eq!(trailing.data(), json!({"__typename": "Query"}));
    for refused in [list, nothing] {
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.text);
        let text = refused.error()["message"].as_str().unwrap().to_owned();
        assert!(text.starts_with("json body could not be decoded: "), "{text}");
    }
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

#[tokio::test]
async fn a_body_that_is_not_one_json_object_is_400() {
    let service = Service::start().await;
    let bodies = ["", "{", "no json", "[]", r#"[{"query":"{a}"}]"#, r#"{"query":1}"#];

    for body in bodies {
        let request =
            service.request("POST", "/graphql").header("content-type", "application/json");
        let reply = service.send(request.body(Body::from(body)).unwrap()).await;

        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        let message = reply.error()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("json body could not be decoded: "), "{message}");
        assert_eq!(reply.headers["content-type"], "application/json");
    }
}

#[tokio::test]
async fn variables_and_extensions_may_be_null_absent_or_given() {
    let service = Service::start().await;
    let asked = "query($id: String!) { runtimeOperationStatus(id: $id) { state } }";

    service.post(&json!({"query": ASK, "variables": null, "extensions": null})).await.data();
    let given = json!({
        "query": asked, "variables": {"id": "o"}, "extensions": {"tracing": true}, "more": 1,
    });
    service.post(&given).await.data();
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
async fn other_methods_and_content_types_are_400() {
    let service = Service::start().await;
    let body = json!({"query": service.named(ASK)}).to_string();
    let cases = [
        ("PUT", Some("application/json")),
        ("DELETE", None),
        ("OPTIONS", None),
        ("PATCH", Some("application/json")),
        ("POST", None),
        ("POST", Some("application/graphql")),
        ("POST", Some("text/plain")),
        ("POST", Some("multipart/form-data; boundary=x")),
    ];

    for (method, kind) in cases {
        let mut request = service.request(method, "/graphql");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let reply = service.send(request.body(Body::from(body.clone())).unwrap()).await;

        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{method} {kind:?}");
        let expected = json!({"errors": [{"message": "transport not supported"}], "data": null});
        assert_eq!(reply.json(), expected);
    }
    let charset = service
        .request("POST", "/graphql")
        .header("content-type", "Application/JSON; charset=utf-8")
        .body(Body::from(body))
        .unwrap();
    service.send(charset).await.data();
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
