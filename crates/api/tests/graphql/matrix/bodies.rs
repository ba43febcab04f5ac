//! Which body of a request is read, and which method and content type it needs.

use axum::{body::Body, http::StatusCode};
use serde_json::json;

use super::ASK;
use crate::service::Service;

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
