//! Operators' questions about operations, without a socket: as the document says, and with errors that name the parameter.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::sync::Arc;

use api::{
    RequestLimits,
    router::{shielded, watching},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use serde_json::{Value, json};
use support::{openapi, operations, tokens::KeyServer};
use tower::ServiceExt;

const DOCUMENT: &str = include_str!("../../../docs/openapi/answers.yaml");

struct Service {
    routes: Router,
    keys: KeyServer,
    operations: operations::Service,
}

impl Service {
    async fn start() -> Self {
        let keys = KeyServer::start().await;
        let operations = operations::Service::start().await;
        let routes = watching(operations.operations.clone(), Arc::new(keys.verifier()));
        Self { routes: shielded(routes, RequestLimits::DEFAULT), keys, operations }
    }

    async fn ask(&self, path: &str) -> (u16, Value) {
        let token = self.keys.token(&["operations:read", "tenants:any"]);
        let request = Request::builder()
            .uri(format!("/answers/{path}"))
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap();
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }
}

/// Every field is described, and those that are always there are.
fn fits(schemas: &Value, name: &str, value: &Value) {
    let schema = &schemas[name];
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{name}: {value}");
        return;
    }
    let fields = value.as_object().unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{name} lacks {required}");
    }
    let named =
        |described: &Value| Some(described["$ref"].as_str()?.rsplit('/').next()?.to_owned());
    for (field, value) in fields {
        let described = schema["properties"].get(field);
        let described = described.unwrap_or_else(|| panic!("{name} has {field}"));
        if let Some(name) = named(described) {
            fits(schemas, &name, value);
        }
        if let Some(name) = named(&described["items"]) {
            value.as_array().unwrap().iter().for_each(|item| fits(schemas, &name, item));
        }
    }
}

#[test]
fn the_document_is_valid_and_says_what_every_status_means() {
    openapi::is_valid(DOCUMENT, &["200", "400", "401", "403", "431", "500", "503", "504"]);
}

#[tokio::test]
async fn the_answers_are_as_the_document_says() {
    let service = Service::start().await;
    while service.operations.operations.count_ended(|_| Some("aws".into())).await.unwrap() {}
    let document: Value = serde_saphyr::from_str(DOCUMENT).unwrap();
    let schemas = &document["components"]["schemas"];

    let stuck = service.ask("stuck").await;
    let steps = service.ask("steps?hours=1&kind=nothing&order=failing&limit=5").await;
    let success = service.ask("success?days=1").await;

    assert_eq!((stuck.0, steps.0, success.0), (200, 200, 200));
    fits(schemas, "StuckList", &stuck.1);
    fits(schemas, "StepList", &steps.1);
    fits(schemas, "SuccessList", &success.1);
    assert_eq!(stuck.1["stuck"], json!([]));
    let step = |it: &Value| it["step"] == "Do_Nothing" && it["runs"] == 1;
    assert!(steps.1["steps"].as_array().unwrap().iter().any(step), "{}", steps.1);
    let ended = &success.1["success"][0];
    assert_eq!((&ended["plan"], &ended["succeeded"]), (&json!("aws"), &json!(1)));
}

#[tokio::test]
async fn a_wrong_parameter_is_named() {
    let service = Service::start().await;

    for (path, told) in [
        ("steps?hours=0", "hours is not a number from 1 to 168"),
        ("steps?hours=169", "hours is not a number from 1 to 168"),
        ("steps?limit=501", "limit is not a number from 1 to 500"),
        ("steps?order=fastest", "order is none of: slowest, failing"),
        ("success?days=91", "days is not a number from 1 to 90"),
    ] {
        let (status, body) = service.ask(path).await;
        assert_eq!((status, body["description"].as_str()), (400, Some(told)), "{path}: {body}");
    }
    let (status, body) = service.ask("success?weeks=1").await;
    assert_eq!(status, 400);
    assert!(body["description"].as_str().unwrap().contains("weeks"), "{body}");
}
