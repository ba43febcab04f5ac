//! Responses to good requests, byte for byte where clients look at bytes.

use axum::http::StatusCode;
use engine::State;
use serde_json::json;

use crate::{
    real::{Real, order},
    service::{HINTS, INSTANCE, WAITING},
};

#[tokio::test]
async fn an_order_is_answered_with_its_operation_dashboard_and_labels() {
    let real = Real::start().await;

    let reply = real.service.put(&format!("{INSTANCE}?{WAITING}"), &order()).await;

    assert_eq!(reply.status, StatusCode::ACCEPTED);
    let json = reply.json();
    assert_eq!(json["dashboard_url"], "https://dashboard.test/?kubeconfigID=i-1");
    assert!(json["operation"].is_string(), "{json}");
    assert_eq!(json["metadata"]["labels"]["Name"], "dev");
    assert!(reply.text.ends_with("}\n"), "{}", reply.text);
}

#[tokio::test]
async fn a_complete_instance_is_answered_with_200_and_no_operation() {
    let real = Real::start().await;
    real.make("i-1").await;

    let reply = real.service.put(&format!("{INSTANCE}?{WAITING}"), &order()).await;

    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.json().get("operation"), None);
}

#[tokio::test]
async fn a_removal_is_answered_with_its_operation() {
    let real = Real::start().await;
    real.make("i-1").await;

    let reply = real.service.call("DELETE", &format!("{INSTANCE}?{HINTS}")).await;

    assert_eq!(reply.status, StatusCode::ACCEPTED);
    let operation = reply.json()["operation"].as_str().unwrap().to_owned();
    assert_eq!(reply.text, format!("{{\"operation\":\"{operation}\"}}\n"));
}

#[tokio::test]
async fn a_context_alone_is_answered_with_200_dashboard_and_labels() {
    let real = Real::start().await;
    real.make("i-1").await;
    let body = json!({
        "service_id": "47c9dcbf-ff30-448e-ab36-d3bad66ba281", "context": {"origin": "cockpit"},
    });

    let reply = real.service.patch(INSTANCE, &body).await;

    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
    let json = reply.json();
    assert_eq!(json["dashboard_url"], "https://dashboard.test/?kubeconfigID=i-1");
    assert_eq!(json["metadata"]["labels"]["Name"], "dev");
    assert_eq!(json.get("operation"), None);
}

#[tokio::test]
async fn a_change_that_cannot_be_is_answered_with_422_and_not_repeatable() {
    let real = Real::start().await;
    real.make("i-1").await;
    let body = json!({
        "service_id": "47c9dcbf-ff30-448e-ab36-d3bad66ba281",
        "plan_id": "7d55d31d-35ae-4438-bf13-6ffdfa107d9f",
    });

    let reply = real.service.patch(&format!("{INSTANCE}?{WAITING}"), &body).await;

    assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", reply.text);
    let json = reply.json();
    assert_eq!(
        (&json["instance_usable"], &json["update_repeatable"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn an_instance_is_shown_with_its_parameters() {
    let real = Real::start().await;
    real.make("i-1").await;

    let reply = real.service.call("GET", INSTANCE).await;

    insta::assert_snapshot!("found", reply.shown());
}

#[tokio::test]
async fn an_operation_tells_its_state_and_when_to_ask_again() {
    let real = Real::start().await;
    let ordered = real.service.put(&format!("{INSTANCE}?{WAITING}"), &order()).await.json();
    let operation = ordered["operation"].as_str().unwrap();
    let path = format!("{INSTANCE}/last_operation");

    let running = real.service.call("GET", &format!("{path}?operation={operation}")).await;
    let other = real.service.call("GET", &format!("{path}?operation=o%2F1")).await;
    real.end(State::Failed, vec![]).await;
    let failed = real.service.call("GET", &path).await;

    assert!(running.headers.contains_key("retry-after"));
    insta::assert_snapshot!("in_progress", running.shown());
    assert_eq!(other.description(), "Operation with id o/1 not exist");
    assert!(!failed.headers.contains_key("retry-after"));
    insta::assert_snapshot!("failed", failed.shown());
    assert_eq!(failed.json()["state"], json!("failed"));
}
