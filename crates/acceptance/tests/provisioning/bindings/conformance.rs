//! The duties of a broker about bindings, by their ids in the checklist of the protocol, over HTTP and with a runtime.

use std::sync::Arc;

use api::{Credentials, RequestLimits, Verifier, osb, router};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, header},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use simulators::trouble::Kind;
use tower::ServiceExt as _;

use super::{BoundRuntime, use_cases};

const PASSWORD: &str = "correct horse";
const CONCURRENT: &str =
    "The Service Broker does not support concurrent requests that mutate the same resource.";

/// A runtime behind the routes of the protocol.
struct Platform {
    runtime: BoundRuntime,
    routes: Router,
}

/// The response.
struct Reply {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Platform {
    async fn start() -> Self {
        let runtime = Box::pin(BoundRuntime::start()).await;
        let credentials = Credentials {
            user: "platform".into(),
            password: PASSWORD.to_owned().into(),
            tenant: None,
        };
        let parts = osb::OsbParts {
            broker: use_cases(&runtime.outside, &runtime.broker, &runtime.clock),
            bindings: runtime.bindings.clone(),
            verifier: Arc::new(Verifier::new(vec![], runtime.clock.clone()).unwrap()),
            platforms: vec![credentials],
            assume_async: false,
        };
        let routes = router::shielded(router::platforms(parts), RequestLimits::DEFAULT);
        Self { runtime, routes }
    }

    fn path(&self, binding: &str) -> String {
        let instance = &self.runtime.order.instance_id;
        format!("/v2/service_instances/{instance}/service_bindings/{binding}")
    }

    fn hints(&self) -> String {
        let order = &self.runtime.order;
        format!("service_id={}&plan_id={}", order.service_id, order.plan_id)
    }

    fn body(&self, parameters: &Value) -> Value {
        let order = &self.runtime.order;
        json!({
            "service_id": order.service_id, "plan_id": order.plan_id, "parameters": parameters,
            "bind_resource": {"app_guid": "app"}, "context": {"platform": "cloudfoundry"}, "an_extension": 1,
        })
    }

    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.send_as(method, path, body, Some("2.17"), PASSWORD).await
    }

    async fn send_as(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        version: Option<&str>,
        password: &str,
    ) -> Reply {
        let pair = BASE64_STANDARD.encode(format!("platform:{password}"));
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Basic {pair}"))
            .header("x-broker-api-originating-identity", "cloudfoundry nonsense")
            .header("x-broker-api-request-identity", "req-7");
        if let Some(version) = version {
            request = request.header("x-broker-api-version", version);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let response = self.routes.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        // H7 and H9 hold for every answer.
        assert_eq!(headers["x-broker-api-request-identity"], "req-7", "{method} {path}");
        assert_eq!(headers[header::CONTENT_TYPE], "application/json", "{method} {path}");
        Reply { status, headers, body: serde_json::from_slice(&bytes).unwrap() }
    }

    async fn bind(&self, binding: &str, body: &Value) -> Reply {
        self.send("PUT", &self.path(binding), Some(body)).await
    }
}

/// B7: a time with a fraction of one digit, in UTC.
fn time(value: &Value) -> jiff::Timestamp {
    let text = value.as_str().unwrap();
    assert_eq!((text.len(), text.get(19..)), (22, Some(".0Z")), "{text}");
    text.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn b_f_d_a_binding_lives_from_bind_to_unbind() {
    let platform = Box::pin(Platform::start()).await;
    let (path, body) = (platform.path("b-1"), platform.body(&json!({"expiration_seconds": 900})));

    // F2, D4: there is nothing yet.
    assert_eq!(platform.send("GET", &path, None).await.status, 404);
    assert_eq!(platform.send("GET", &format!("{path}/last_operation"), None).await.status, 404);
    let gone = platform.send("DELETE", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!((gone.status, gone.body), (410, json!({})));

    // B2, B5, S4: made by this request, with or without the leave to answer later.
    let made = platform.send("PUT", &format!("{path}?accepts_incomplete=true"), Some(&body)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(made.body["credentials"]["kubeconfig"].as_str().unwrap().contains("token"));
    assert!(made.body.get("operation").is_none());
    let (ends, renew) =
        (time(&made.body["metadata"]["expires_at"]), time(&made.body["metadata"]["renew_before"]));
    assert!(renew < ends, "B7");

    // B2: the same again. B3: another one under the same id.
    let again = platform.bind("b-1", &body).await;
    assert_eq!((again.status, &again.body), (200, &made.body));
    let other = platform.bind("b-1", &platform.body(&json!({"expiration_seconds": 901}))).await;
    assert_eq!(other.status, 409, "{}", other.body);

    // F1, F3, section 8: it can be fetched, and its last operation has succeeded.
    let found = platform.send("GET", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!(found.status, 200);
    assert_eq!(found.body["credentials"], made.body["credentials"]);
    assert_eq!(found.body["parameters"], json!({"expiration_seconds": 900}));
    let last = platform.send("GET", &format!("{path}/last_operation?operation="), None).await;
    assert_eq!((last.status, &last.body["state"]), (200, &json!("succeeded")));

    // B10: the next one has credentials of its own.
    let second = platform.bind("b-2", &body).await;
    assert_eq!(second.status, 201);
    assert_ne!(second.body["credentials"], made.body["credentials"]);

    // D1, D2, D4.
    for hint in ["", "service_id=s", "plan_id=p", "service_id=&plan_id=p"] {
        let refused = platform.send("DELETE", &format!("{path}?{hint}"), None).await;
        assert_eq!(refused.status, 400, "{hint}");
    }
    let unbound = platform.send("DELETE", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!((unbound.status, unbound.body), (200, json!({})));
    let again = platform.send("DELETE", &format!("{path}?{}", platform.hints()), None).await;
    assert_eq!((again.status, again.body), (410, json!({})));
    assert_eq!(platform.send("GET", &path, None).await.status, 404);
    assert_eq!(platform.send("GET", &platform.path("b-2"), None).await.status, 200, "B10");
    assert_eq!(platform.runtime.made().len(), 3, "D7");
}

#[tokio::test(flavor = "multi_thread")]
async fn b1_x5_a_bind_that_is_refused_makes_nothing() {
    let platform = Box::pin(Platform::start()).await;
    let order = platform.runtime.order.clone();
    let (service, plan) = (&order.service_id, &order.plan_id);

    for body in [
        json!({"plan_id": plan}),
        json!({"service_id": service}),
        json!({"service_id": "", "plan_id": plan}),
        json!({"service_id": service, "plan_id": 7}),
        json!({"service_id": "another", "plan_id": plan}),
        json!({"service_id": service, "plan_id": "another"}),
        json!({"service_id": service, "plan_id": plan, "parameters": "all"}),
        json!({"service_id": service, "plan_id": plan, "context": []}),
        json!({"service_id": service, "plan_id": plan, "parameters": {"expiration_seconds": 1}}),
        json!({"service_id": service, "plan_id": plan, "parameters": {"expiration_seconds": "long"}}),
        json!({"service_id": service, "plan_id": plan, "parameters": {"noSuchThing": 1}}),
        // B9: of nothing.
        json!({"service_id": service, "plan_id": plan, "predecessor_binding_id": "b-0"}),
    ] {
        let refused = platform.bind("b-1", &body).await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.body);
        assert!(!refused.body["description"].as_str().unwrap().is_empty(), "X2");
    }
    let elsewhere = "/v2/service_instances/none/service_bindings/b-1";
    let missing = platform.send("PUT", elsewhere, Some(&platform.body(&json!({})))).await;
    assert_eq!(missing.status, 404, "{}", missing.body);
    assert_eq!((platform.runtime.made().len(), platform.runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bind_of_a_runtime_that_is_away_is_answered_with_when_to_try_again() {
    let platform = Box::pin(Platform::start()).await;
    platform.runtime.outside.trouble("runtimes", 1_000, Kind::Down { refuse: false });

    let away = platform.bind("b-1", &platform.body(&json!({}))).await;

    assert_eq!(away.status, 503, "{}", away.body);
    assert_eq!(away.headers[header::RETRY_AFTER], "5");
    let description = away.body["description"].as_str().unwrap();
    assert!(description.ends_with("is not available, try again later"), "{description}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b9_a_binding_is_rotated_and_both_work_side_by_side() {
    let platform = Box::pin(Platform::start()).await;
    let first = platform.bind("b-1", &platform.body(&json!({"expiration_seconds": 1800}))).await;
    let mut body = platform.body(&json!({}));
    body["predecessor_binding_id"] = "b-1".into();

    let second = platform.bind("b-2", &body).await;

    assert_eq!(second.status, 201, "{}", second.body);
    assert_ne!(second.body["credentials"], first.body["credentials"]);
    let found = platform.send("GET", &platform.path("b-2"), None).await;
    assert_eq!(found.body["parameters"], json!({"expiration_seconds": 1800}));
    assert_eq!(platform.send("GET", &platform.path("b-1"), None).await.status, 200);
    assert_eq!(platform.bind("b-2", &body).await.status, 200, "the same again");
}

#[tokio::test(flavor = "multi_thread")]
async fn h_a2_every_binding_endpoint_needs_the_version_and_credentials() {
    let platform = Box::pin(Platform::start()).await;
    let path = platform.path("b-1");
    let body = platform.body(&json!({}));

    for (method, path, since_2_14) in [
        ("PUT", path.clone(), false),
        ("GET", path.clone(), true),
        ("GET", format!("{path}/last_operation"), true),
        ("DELETE", format!("{path}?{}", platform.hints()), false),
    ] {
        for (version, refused) in
            [(None, true), (Some("1.14"), true), (Some("3.0"), true), (Some("2.13"), since_2_14)]
        {
            let reply = platform.send_as(method, &path, Some(&body), version, PASSWORD).await;
            assert_eq!(
                reply.status == 412,
                refused,
                "{method} {path} {version:?}: {}",
                reply.status
            );
        }
        let denied = platform.send_as(method, &path, Some(&body), Some("2.17"), "wrong").await;
        assert_eq!(denied.status, 401, "{method} {path}");
        assert!(denied.headers.contains_key(header::WWW_AUTHENTICATE));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn x8_of_binds_at_once_one_succeeds_and_the_others_are_told_to_come_again() {
    let platform = Box::pin(Platform::start()).await;
    let body = platform.body(&json!({}));

    let all = futures::future::join_all((0..5).map(|_| platform.bind("b-1", &body))).await;

    assert_eq!(all.iter().filter(|it| it.status == 201).count(), 1);
    for reply in all.iter().filter(|it| it.status != 201) {
        if reply.status == 200 {
            continue;
        }
        assert_eq!((reply.status, &reply.body["error"]), (422, &json!("ConcurrencyError")));
        assert_eq!(reply.body["description"], CONCURRENT);
    }
}
