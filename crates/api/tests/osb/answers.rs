//! What good requests are answered with, byte for byte where clients look at bytes.

use axum::http::StatusCode;
use serde_json::json;

use crate::{
    canned::{Canned, OPERATION},
    service::{HINTS, INSTANCE, Service, WAITING},
};

#[tokio::test]
async fn an_order_is_answered_with_its_operation_dashboard_and_labels() {
    let canned = Canned::new();
    let service = Service::around(canned.clone()).await;
    let body = json!({
        "service_id": "s", "plan_id": "p", "context": {"a": 1}, "parameters": {"b": 2},
        "organization_guid": "o", "space_guid": "s", "unknown": [1],
    });

    let reply = service.put(&format!("{INSTANCE}?{WAITING}"), &body).await;

    assert_eq!(reply.status, StatusCode::ACCEPTED);
    let expected = json!({
        "dashboard_url": "https://dashboard.test/?kubeconfigID=i-1",
        "operation": OPERATION,
        "metadata": {"labels": {"Name": "dev <1>"}},
    });
    assert_eq!(reply.json(), expected);
    assert!(reply.text.contains("dev <1>") && reply.text.ends_with("}\n"), "{}", reply.text);
    let asked = "provision i-1 in Some(\"cf-eu10\"): s p {\"a\":1} {\"b\":2}";
    assert_eq!(canned.calls()[0].1, asked);
}

#[tokio::test]
async fn a_complete_instance_is_answered_with_200_and_no_operation() {
    let canned = Canned::new();
    *canned.complete.lock().unwrap() = true;
    let service = Service::around(canned).await;

    let body = json!({"service_id": "s", "plan_id": "p"});
    let reply = service.put(&format!("{INSTANCE}?{WAITING}"), &body).await;

    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.json().get("operation"), None);
}

#[tokio::test]
async fn a_removal_is_answered_with_its_operation() {
    let service = Service::around(Canned::new()).await;

    let reply = service.call("DELETE", &format!("{INSTANCE}?{HINTS}")).await;

    assert_eq!(reply.status, StatusCode::ACCEPTED);
    assert_eq!(reply.text, format!("{{\"operation\":\"{OPERATION}\"}}\n"));
}

#[tokio::test]
async fn an_instance_is_shown_with_its_parameters() {
    let service = Service::around(Canned::new()).await;

    let reply = service.call("GET", INSTANCE).await;

    insta::assert_snapshot!("found", reply.shown());
}

#[tokio::test]
async fn an_operation_tells_its_state_and_when_to_ask_again() {
    let canned = Canned::new();
    let service = Service::around(canned.clone()).await;
    let running = service.call("GET", &format!("{INSTANCE}/last_operation?operation=o%2F1")).await;
    *canned.failed.lock().unwrap() = true;
    let failed = service.call("GET", &format!("{INSTANCE}/last_operation")).await;

    assert_eq!(running.headers["retry-after"], "20");
    insta::assert_snapshot!("in_progress", running.shown());
    assert!(!failed.headers.contains_key("retry-after"));
    insta::assert_snapshot!("failed", failed.shown());
    let asked: Vec<String> = canned.calls().into_iter().map(|(_, asked)| asked).collect();
    assert_eq!(asked, ["follow Some(\"o/1\") of i-1", "follow None of i-1"]);
}
