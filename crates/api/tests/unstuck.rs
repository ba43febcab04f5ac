//! Getting operations unstuck, the responses and the audit, without a socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "unstuck/actions.rs"]
mod actions;
#[path = "unstuck/events.rs"]
mod events;
mod support;

use std::sync::Arc;

use api::{
    RequestLimits,
    router::{history_of_runtimes, shielded, unsticking, watching},
};
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use serde_json::{Value, json};
use support::{
    operations::{self, ENDED, RUNNING},
    tokens::KeyServer,
};
use tower::ServiceExt;

const OPERATOR: &[&str] = &["operations:read", "operations:write", "tenants:any"];

struct Service {
    routes: Router,
    keys: KeyServer,
    operations: operations::Service,
}

async fn service() -> Service {
    let keys = KeyServer::start().await;
    let operations = operations::Service::start().await;
    let (own, verifier) = (operations.operations.clone(), Arc::new(keys.verifier()));
    let routes = watching(own.clone(), verifier.clone())
        .merge(unsticking(own.clone(), verifier.clone()))
        .merge(history_of_runtimes(own.clone(), verifier))
        .layer(Extension(own.audit()));
    Service { routes: shielded(routes, RequestLimits::DEFAULT), keys, operations }
}

impl Service {
    async fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let token = self.keys.token(OPERATOR);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::USER_AGENT, "a-test/1")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::from(body.to_owned()))
            .unwrap();
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8_lossy(&body).into_owned();
        (status, serde_json::from_slice(&body).unwrap_or(Value::String(text)))
    }

    async fn post(&self, id: &str, action: &str, body: &str) -> (u16, Value) {
        self.call("POST", &format!("/operations/{id}/{action}"), body).await
    }
}

#[tokio::test]
async fn an_operation_is_abandoned_and_retried_and_everything_of_it_is_audited() {
    let service = service().await;

    let early = service.post(RUNNING, "retry", r#"{"reason": "too early"}"#).await;
    let abandoned = service.post(RUNNING, "abandon", r#"{"reason": "it hangs"}"#).await;
    let again = service.post(RUNNING, "abandon", r#"{"reason": "once more"}"#).await;
    let retried = service.post(RUNNING, "retry", r#"{"reason": "parts came"}"#).await;
    let twice = service.post(RUNNING, "retry", r#"{"reason": "parts came"}"#).await;
    let succeeded = service.post(ENDED, "retry", r#"{"reason": "to be sure"}"#).await;

    assert_eq!((early.0, &early.1["error"]), (409, &json!("conflict")));
    assert_eq!((abandoned.0, &abandoned.1["state"]), (202, &json!("failed")));
    assert_eq!(abandoned.1["failure"]["reason"], "abandoned");
    assert!(abandoned.1["note"].as_str().unwrap().ends_with(": it hangs"));
    assert_eq!(again.0, 409);
    assert_eq!((retried.0, &retried.1["root"]), (202, &json!(RUNNING)));
    assert_eq!(retried.1["closed"], json!(["order"]), "finished stages stay finished");
    assert_eq!(twice.0, 409, "{}", twice.1);
    assert!(succeeded.1["description"].as_str().unwrap().contains("has succeeded"));

    let (_, events) = service.call("GET", "/events?instance_ids=instance-1", "").await;
    let told: Vec<&str> =
        events.as_array().unwrap().iter().map(|it| it["Message"].as_str().unwrap()).collect();
    let audited: Vec<&&str> = told.iter().filter(|it| it.starts_with("audit: ")).collect();
    assert_eq!(audited.len(), 5, "{told:#?}");
    assert!(audited[0].starts_with("audit: retry refused"), "{audited:?}");
    assert!(audited[1].ends_with(": it hangs"), "{audited:?}");
    assert!(audited[3].contains("continued as"), "{audited:?}");
    assert!(told.contains(&"processing step: Order_Parts"), "{told:#?}");
    assert!(told.iter().any(|it| it.starts_with("operation failed: abandoned by")), "{told:#?}");
    assert!(events.as_array().unwrap().iter().all(|it| it["OperationID"].is_string()));
    let audit = service.operations.operations.audit();
    let entries = audit.of(&["instance-1".into()], &[], 10).await.unwrap();
    assert_eq!(entries[0].agent.as_deref(), Some("a-test/1"));
    assert!(entries.iter().all(|it| !it.subject.is_empty() && !it.issuer.is_empty()));
}

#[tokio::test]
async fn the_audit_can_be_verified_over_http() {
    let service = service().await;
    service.post(RUNNING, "cancel", r#"{"reason": "not wanted"}"#).await;
    let operations = &service.operations.operations;
    operations.audit().link(operations.engine().clock().now()).await.unwrap();

    let (status, verified) = service.call("GET", "/audit/verify", "").await;

    assert_eq!((status, &verified["whole"], &verified["last"]), (200, &json!(true), &json!(1)));
    assert_eq!(verified["digest"].as_str().unwrap().len(), 64);
}
