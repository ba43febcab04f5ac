//! Every error, as platforms see it.

use std::fmt::Write;

use api::{RequestLimits, router::shielded};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use serde_json::json;
use tower::ServiceExt;

use crate::{
    real::Real,
    service::{INSTANCE, WAITING},
};

#[tokio::test]
async fn what_is_not_offered_says_so() {
    let real = Real::start().await;
    let service = &real.service;
    let binding = format!("{INSTANCE}/service_bindings/b-1");
    let mut shown = String::new();

    for (method, path) in [
        ("PUT", &binding),
        ("GET", &binding),
        ("DELETE", &binding),
        ("DELETE", &format!("{binding}?service_id=s&plan_id=p")),
        ("GET", &format!("{binding}/last_operation")),
    ] {
        let reply = service.put_or_call(method, path).await;
        writeln!(shown, "{method} {path}: {}\n", reply.shown()).unwrap();
    }

    insta::assert_snapshot!("not_offered", shown);
}

#[tokio::test]
async fn errors_that_no_handler_makes_have_the_same_shape() {
    let real = Real::start().await;
    let service = &real.service;
    let large = json!({"service_id": "x".repeat(200_000)});
    let replies = [
        ("no route", service.call("GET", "/v2/nothing").await),
        ("no route either", service.call("GET", "/oauth/v2/nothing").await),
        ("no method", service.call("POST", INSTANCE).await),
        ("too large", service.put(&format!("{INSTANCE}?{WAITING}"), &large).await),
        ("path", service.call("GET", "/oauth/v2/service_instances/%ff").await),
    ];
    let mut shown = String::new();

    for (name, reply) in replies {
        writeln!(shown, "{name}: {}\n", reply.shown()).unwrap();
    }

    insta::assert_snapshot!("unhandled", shown);
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_told_what_is_wrong_with_them() {
    let real = Real::start().await;
    let service = &real.service;
    let table = [
        ("", "the body is empty"),
        ("{", "the body is not JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "the body is not a JSON object"),
        ("null", "the body is not a JSON object"),
        ("{} {}", "the body is not JSON: trailing characters at line 1 column 4"),
        (r#"{"service_id": 1}"#, "service_id is not a string"),
        (r#"{"plan_id": ["hush"]}"#, "plan_id is not a string"),
        (r#"{"context": "hush"}"#, "context is not an object"),
        (r#"{"parameters": "hush"}"#, "parameters is not an object"),
        (r#"{"maintenance_info": 3}"#, "maintenance_info is not an object"),
    ];

    for (body, expected) in table {
        let request = service.request("PUT", &format!("{INSTANCE}?{WAITING}"));
        let reply = service.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(reply.description(), expected, "{body}");
    }
    assert_eq!(real.operations().await, 0);
}

#[tokio::test]
async fn a_panic_is_answered_in_the_same_shape_and_its_text_is_not_told() {
    let panicking = axum::routing::get(async || -> String { panic!("secret /etc/path") });
    let routes = shielded(Router::new().route("/v2/catalog", panicking), RequestLimits::DEFAULT);
    let request = Request::get("/v2/catalog").header("x-correlation-id", "c-1");

    let response = routes.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();

    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let body = to_bytes(response.into_body(), 10_000).await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert!(!body.to_string().contains("secret"), "{body}");
    let description = body["description"].as_str().unwrap();
    assert!(description.ends_with("by the correlation id c-1"), "{description}");
}

#[tokio::test]
async fn nobody_comes_in_with_a_password_when_none_is_configured() {
    let real = Real::without_platforms().await;
    let request = Request::get("/v2/catalog")
        .header("x-broker-api-version", "2.17")
        .header("authorization", crate::service::basic("", ""));

    let reply = real.service.send(request.body(Body::empty()).unwrap()).await;

    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_description_is_never_as_long_as_what_was_sent() {
    let real = Real::start().await;
    let long = json!({"service_id": "x".repeat(90_000), "plan_id": "p"});

    let refused = real.service.put(&format!("{INSTANCE}?{WAITING}"), &long).await;
    let missing = real.service.call("GET", &format!("/oauth/v2/{}", "x".repeat(60_000))).await;

    assert!(refused.description().chars().count() <= 1_000);
    assert!(missing.text.len() < 2_000, "{}", missing.text.len());
}
