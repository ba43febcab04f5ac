//! Getting operations unstuck, the responses and the audit, without a socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

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
async fn nothing_is_done_without_a_reason_and_the_refusal_is_audited() {
    let service = service().await;
    let before = service.call("GET", &format!("/operations/{RUNNING}"), "").await;
    let actions = ["cancel", "retry", "skip", "abandon"];

    for action in actions {
        let bodies = match action {
            "skip" => {
                [r#"{"step": "Wait_For_Parts"}"#, r#"{"step": "Wait_For_Parts", "reason": " "}"#]
            }
            _ => ["", r#"{"reason": ""}"#],
        };
        for body in bodies {
            let (status, answer) = service.post(RUNNING, action, body).await;
            assert_eq!((status, &answer["error"]), (400, &json!("bad_request")), "{action} {body}");
            let told = answer["description"].as_str().unwrap();
            assert!(told.starts_with("reason is missing"), "{action} {body}: {told}");
        }
    }

    let after = service.call("GET", &format!("/operations/{RUNNING}"), "").await;
    assert_eq!(after, before);
    let id = RUNNING.parse().unwrap();
    let entries = service.operations.operations.audit().of(&[], &[id], 20).await.unwrap();
    for action in actions {
        let refused = entries.iter().filter(|it| it.action == action);
        let told: Vec<_> = refused.map(|it| (it.result.as_deref(), it.reason.as_deref())).collect();
        let expected = (Some("refused"), Some("reason is missing: it is kept in the audit"));
        assert_eq!(told, [expected; 2], "{action}");
    }
}

#[tokio::test]
async fn each_action_is_audited_with_its_reason() {
    for (action, body) in [
        ("cancel", json!({"reason": "not wanted"})),
        ("skip", json!({"reason": "not wanted", "step": "Wait_For_Parts"})),
        ("abandon", json!({"reason": "not wanted"})),
        ("retry", json!({"reason": "not wanted"})),
    ] {
        let service = service().await;
        if action == "retry" {
            service.post(RUNNING, "abandon", r#"{"reason": "it hangs"}"#).await;
        }
        let (status, answer) = service.post(RUNNING, action, &body.to_string()).await;
        assert_eq!(status, 202, "{action}: {answer}");

        let audit = service.operations.operations.audit();
        let entries = audit.of(&["instance-1".into()], &[], 10).await.unwrap();
        let entry = entries.iter().find(|it| it.action == action).unwrap();
        assert_eq!(entry.result.as_deref(), Some("accepted"), "{action}");
        assert!(entry.reason.as_deref().unwrap().ends_with("not wanted"), "{action}: {entry:?}");
    }
}

#[tokio::test]
async fn only_steps_that_a_removal_can_go_on_without_are_skipped() {
    let service = service().await;
    let step = |step: &str| json!({"step": step, "reason": "gone"}).to_string();

    let unknown = service.post(RUNNING, "skip", &step("No_Such_Step")).await;
    let needed = service.post(RUNNING, "skip", &step("Order_Parts")).await;
    let unnamed = service.post(RUNNING, "skip", r#"{"reason": "gone"}"#).await;
    let ended = service.post(ENDED, "skip", &step("Do_Nothing")).await;
    let skipped = service.post(RUNNING, "skip", &step("Wait_For_Parts")).await;

    assert_eq!((unknown.0, needed.0, unnamed.0, ended.0), (400, 400, 400, 409));
    let text = |answer: &Value| answer["description"].as_str().unwrap().to_owned();
    assert_eq!(text(&unknown.1), "step is not in the plan of building");
    assert!(text(&needed.1).starts_with("step cannot be skipped"), "{}", text(&needed.1));
    assert_eq!(text(&unnamed.1), "step is missing");
    assert_eq!(skipped.0, 202, "{}", skipped.1);
    let done = loop {
        let (_, found) = service.call("GET", &format!("/operations/{RUNNING}"), "").await;
        if found["state"] == "succeeded" {
            break found;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(done["incomplete"], json!(["build/Wait_For_Parts"]));
}

#[tokio::test]
async fn events_of_unknown_instances_are_none_and_a_wrong_query_is_named() {
    let service = service().await;

    let none = service.call("GET", "/events?instance_ids=nobody", "").await;
    let one = service.call("GET", &format!("/events?operation_ids={ENDED}"), "").await;
    let all = service.call("GET", "/events", "").await;
    let wrong = service.call("GET", "/events?operation_ids=x", "").await;
    let unknown = service.call("GET", "/events?instances=x", "").await;

    assert_eq!(none, (200, json!([])));
    let last = one.1.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["Message"], "operation processing succeeded");
    assert_eq!((&last["Level"], &last["InstanceID"]), (&json!("info"), &json!("instance-2")));
    assert!(all.1.as_array().unwrap().len() > one.1.as_array().unwrap().len());
    assert_eq!((wrong.0, unknown.0), (400, 400));
    for name in ["instance_ids", "operation_ids", "runtime_ids"] {
        let of = |many: usize| format!("/events?{name}={}", vec![ENDED; many].join(","));
        let refused = service.call("GET", &of(501), "").await;
        assert_eq!((service.call("GET", &of(500), "").await.0, refused.0), (200, 400), "{name}");
    }
}

/// The exchange of the known client's list with events, and the filters that other clients use.
#[tokio::test]
async fn events_have_the_known_fields_in_order_of_time_and_every_filter_narrows_them() {
    let service = service().await;
    service.post(RUNNING, "abandon", r#"{"reason": "it hangs"}"#).await;
    service.operations.operations.engine().clock().advance(std::time::Duration::from_secs(1));
    service.post(RUNNING, "retry", r#"{"reason": "parts came"}"#).await;
    let events = async |query: &str| {
        let (status, events) = service.call("GET", &format!("/events?{query}"), "").await;
        assert_eq!(status, 200, "{query}: {events}");
        events.as_array().unwrap().clone()
    };
    let of = |events: &[Value], field: &str| -> Vec<String> {
        let texts = events.iter().map(|event| event[field].as_str().unwrap().to_owned());
        texts.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    };

    let one = events("instance_ids=instance-1").await;
    let fields = ["CreatedAt", "ID", "InstanceID", "Level", "Message", "OperationID"];
    for event in &one {
        let mut own: Vec<_> = event.as_object().unwrap().keys().map(String::as_str).collect();
        own.sort_unstable();
        assert_eq!(own, fields, "{event}");
        assert!(event.as_object().unwrap().values().all(Value::is_string), "{event}");
        event["CreatedAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    }
    assert_eq!(of(&one, "ID").len(), one.len(), "no two have the same id");
    assert_eq!(of(&one, "Level"), ["error", "info"]);
    assert_eq!(of(&one, "InstanceID"), ["instance-1"]);
    let times: Vec<_> = one.iter().map(|event| event["CreatedAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && times.first() < times.last(), "{times:?}");

    // Several are separated by commas; of instances and operations together, what fits both.
    let both = events("instance_ids=instance-1,instance-2").await;
    assert_eq!(of(&both, "InstanceID"), ["instance-1", "instance-2"]);
    let running = events(&format!("operation_ids={RUNNING}")).await;
    assert_eq!(of(&running, "OperationID"), [RUNNING]);
    assert!(running.len() < one.len(), "the retry is another operation");
    let two = events(&format!("operation_ids={RUNNING},{ENDED}")).await;
    assert_eq!(of(&two, "OperationID"), [RUNNING, ENDED]);
    let fits = events(&format!("operation_ids={RUNNING},{ENDED}&instance_ids=instance-2")).await;
    assert_eq!(of(&fits, "OperationID"), [ENDED]);
    let none = format!("operation_ids={RUNNING}&instance_ids=instance-2");
    assert_eq!(events(&none).await, Vec::<Value>::new());
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
