//! A platform that binds over HTTP, for the duties of a broker about bindings.

mod duties;
mod lifetime;

use std::sync::Arc;

use api::{Credentials, RequestLimits, Verifier, osb, router};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, header},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
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
