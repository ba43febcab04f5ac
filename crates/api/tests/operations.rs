//! The operators' API without a socket: status and body as snapshots.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::sync::Arc;

use api::{
    RequestLimits,
    router::{BrokerParts, broker, shielded, unsticking},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use support::{
    operations::{self, ENDED, Half, RUNNING},
    tokens::KeyServer,
};
use tower::ServiceExt;

const READ: &[&str] = &["operations:read", "tenants:any"];
const BOTH: &[&str] = &["operations:read", "operations:write", "tenants:any"];

struct Service {
    routes: Router,
    keys: KeyServer,
    _operations: operations::Service,
}

async fn service() -> Service {
    let keys = KeyServer::start().await;
    let operations = operations::Service::start().await;
    let parts = BrokerParts {
        operations: operations.operations.clone(),
        readiness: Arc::new(Half),
        verifier: Arc::new(keys.verifier()),
    };
    let breaking = axum::routing::get(async || -> String { panic!("secret /etc/path") });
    let routes = broker(parts).route("/breaking", breaking);
    let routes = shielded(routes, RequestLimits { body: 1_000, ..RequestLimits::DEFAULT });
    Service { routes, keys, _operations: operations }
}

/// Hides what differs from run to run.
fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r#""(owner|replica|operation)": "[0-9a-f-]{36}""#, r#""$1": "[id]""#);
    // Back-off has jitter.
    settings.add_filter(r#""(due_at|next_at|next_try)": "2026[^"]*""#, r#""$1": "[time]""#);
    settings
}

impl Service {
    async fn send(&self, request: Request<Body>) -> (StatusCode, String) {
        let response = self.routes.clone().oneshot(request).await.unwrap();
        assert_eq!(response.headers()["x-correlation-id"], "test-1");
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn call(&self, method: &str, path: &str, scopes: Option<&[&str]>) -> String {
        let mut request =
            Request::builder().method(method).uri(path).header("x-correlation-id", "test-1");
        if let Some(scopes) = scopes {
            let token = self.keys.token(scopes);
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        // Requests that change an operation need a reason; the others have no body.
        let body =
            if method == "POST" { Body::from(r#"{"reason": "a test"}"#) } else { Body::empty() };
        let (status, body) = self.send(request.body(body).unwrap()).await;
        let body = serde_json::from_str::<serde_json::Value>(&body)
            .map_or(body, |body| serde_json::to_string_pretty(&body).unwrap());
        format!("{method} {path}\n{status}\n{body}")
    }
}

#[tokio::test]
async fn health_readiness_and_version_need_no_token() {
    let service = service().await;

    insta::assert_snapshot!("healthz", service.call("GET", "/healthz", None).await);
    insta::assert_snapshot!("readyz", service.call("GET", "/readyz", None).await);
    let version = service.call("GET", "/version", None).await;
    assert!(version.contains("200 OK") && version.contains(env!("CARGO_PKG_VERSION")), "{version}");
}

#[tokio::test]
async fn operations_are_listed_shown_and_explained() {
    let service = service().await;
    let _settings = settings().bind_to_scope();
    let get = async |path: &str| service.call("GET", path, Some(READ)).await;

    insta::assert_snapshot!("list", get("/operations?state=in%20progress&limit=1").await);
    insta::assert_snapshot!("find", get(&format!("/operations/{RUNNING}")).await);
    insta::assert_snapshot!("journal", get(&format!("/operations/{RUNNING}/journal")).await);
    insta::assert_snapshot!("waiting", get(&format!("/operations/{RUNNING}/waiting")).await);
}

#[tokio::test]
async fn operations_are_called_off_with_the_scope_for_it() {
    let service = service().await;
    let _settings = settings().bind_to_scope();
    let post = async |path: &str, scopes| service.call("POST", path, scopes).await;
    let cancel = format!("/operations/{RUNNING}/cancel");

    // The operation may have ended before it is read for the answer.
    let canceled = post(&cancel, Some(BOTH)).await;
    let (head, body) = canceled.split_once("\n202 Accepted\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((head, &body["id"]), (format!("POST {cancel}").as_str(), &RUNNING.into()));
    let expected =
        serde_json::json!({"state": "canceled", "reason": "called off by admin: a test"});
    assert_eq!(body["cancel"], expected);
    let ended = format!("/operations/{ENDED}/cancel");
    insta::assert_snapshot!("cancel_ended", post(&ended, Some(BOTH)).await);
    insta::assert_snapshot!("cancel_without_scope", post(&cancel, Some(READ)).await);
    insta::assert_snapshot!("cancel_without_token", post(&cancel, None).await);
}

#[tokio::test]
async fn a_token_of_one_tenant_does_not_show_everybodys_operations() {
    let service = service().await;
    let token = service.keys.token_of(Some("ga-1"), BOTH);

    let cancel = format!("/operations/{RUNNING}/cancel");
    for (method, path) in [("GET", "/operations"), ("POST", &*cancel)] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("x-correlation-id", "test-1")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap();
        let (status, body) = service.send(request).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{body}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_named_and_nothing_else_is_told() {
    let service = service().await;
    let get = async |path: &str| service.call("GET", path, Some(READ)).await;
    let mut answers = Vec::new();

    for path in [
        "/operations/not-a-uuid",
        "/operations/018f0000-0000-7000-8000-00000000ffff",
        "/operations?limit=0",
        "/operations?limit=501",
        "/operations?after=x",
        "/operations?state=lost",
        "/operations?colour=red",
        "/nowhere",
    ] {
        answers.push(get(path).await);
    }
    answers.push(get("/breaking").await);
    answers.push(service.call("DELETE", "/operations", Some(READ)).await);

    insta::assert_snapshot!("refusals", answers.join("\n\n"));
}

#[tokio::test]
async fn large_bodies_and_large_headers_are_refused() {
    let service = service().await;
    let request = || {
        Request::builder()
            .method("POST")
            .uri(format!("/operations/{RUNNING}/cancel"))
            .header("x-correlation-id", "test-1")
    };
    let large = request().header(header::CONTENT_LENGTH, 2_000).body(Body::from("x".repeat(2_000)));
    let wide = request().header("x-wide", "x".repeat(40_000)).body(Body::empty());

    let (status, body) = service.send(large.unwrap()).await;
    assert_eq!(status, 413);
    assert!(body.contains("\"too_large\""), "{body}");
    let (status, body) = service.send(wide.unwrap()).await;
    assert_eq!(status, 431);
    assert!(body.contains("\"headers_too_large\""), "{body}");
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered_in_the_same_shape() {
    let forever = axum::routing::get(std::future::pending::<()>);
    let limits =
        RequestLimits { time: std::time::Duration::from_millis(1), ..RequestLimits::DEFAULT };
    let routes = shielded(Router::new().route("/slow", forever), limits);

    let request = Request::get("/slow").body(Body::empty()).unwrap();
    let response = routes.oneshot(request).await.unwrap();

    assert_eq!(response.status(), 504);
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["error"], "timeout");
    assert!(body["correlation_id"].is_string());
}

#[tokio::test]
async fn what_happens_arrives_as_events_until_the_token_runs_out() {
    let keys = KeyServer::start().await;
    let operations = operations::Service::empty().await;
    let parts = BrokerParts {
        operations: operations.operations.clone(),
        readiness: Arc::new(Half),
        verifier: Arc::new(keys.verifier()),
    };
    let request = Request::get("/operations/events")
        .header(header::AUTHORIZATION, format!("Bearer {}", keys.token(READ)))
        .body(Body::empty());
    let response =
        shielded(broker(parts), RequestLimits::DEFAULT).oneshot(request.unwrap()).await.unwrap();

    operations.begin().await;
    let read = tokio::spawn(to_bytes(response.into_body(), 1 << 20));
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    keys.clock.advance(std::time::Duration::from_hours(1));
    let body = String::from_utf8(read.await.unwrap().unwrap().to_vec()).unwrap();

    assert!(body.starts_with("event: operation\ndata: {"), "{body}");
    assert!(body.contains(RUNNING));
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_with_408_and_not_as_if_it_had_been_handled() {
    let read = axum::routing::put(async |body: String| body);
    let routes =
        Router::new().route("/read", read.clone()).route("/v2/service_instances/{id}", read);
    let body_time = std::time::Duration::from_millis(1);
    let routes = shielded(routes, RequestLimits { body_time, ..RequestLimits::DEFAULT });
    let slow = || {
        let first = futures::stream::once(async { Ok::<_, std::io::Error>("{\"a\":") });
        Body::from_stream(futures::StreamExt::chain(first, futures::stream::pending()))
    };

    for (path, field, words) in [
        ("/read", "error", "request_timeout"),
        ("/v2/service_instances/i-1", "description", "the request body did not arrive in time"),
    ] {
        let request = Request::put(path).body(slow()).unwrap();
        let response = routes.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 408, "{path}");
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body[field], words, "{path}");
    }
    let whole = Request::put("/read").body(Body::from("all of it")).unwrap();
    let response = routes.oneshot(whole).await.unwrap();
    assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), "all of it");
}

#[tokio::test]
async fn operations_of_every_service_can_be_called_off_and_nothing_else() {
    let keys = KeyServer::start().await;
    let operations = operations::Service::start().await;
    let routes = unsticking(operations.operations.clone(), Arc::new(keys.verifier()));
    let routes = shielded(routes, RequestLimits::DEFAULT);
    let service = Service { routes, keys, _operations: operations };
    let path = format!("/operations/{RUNNING}/cancel");

    let accepted = service.call("POST", &path, Some(&["operations:write", "tenants:any"])).await;
    let without_scope =
        service.call("POST", &path, Some(&["operations:read", "tenants:any"])).await;
    let listed =
        service.call("GET", "/operations", Some(&["operations:write", "tenants:any"])).await;

    assert!(accepted.contains("\n202 "), "{accepted}");
    assert!(without_scope.contains("\n403 "), "{without_scope}");
    assert!(listed.contains("\n404 "), "{listed}");
}
