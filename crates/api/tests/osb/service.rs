//! The routes around a broker, and how tests call them.

use std::sync::{Arc, OnceLock};

use api::{
    Credentials, RequestLimits,
    osb::OsbParts,
    router::{self, shielded},
};
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode, header, request::Builder},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use broker::{bindings::Bindings, instances::Broker, operations::view::AuditLog};
use jsonwebtoken::{Algorithm, Header, encode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::tokens::{AUDIENCE, KeyServer, NOW};

pub(crate) const WRITE: &str = "broker:write";
pub(crate) const ANY: &str = "tenants:any";
pub(crate) const PLATFORM: (&str, &str) = ("platform", "correct horse");
/// Where an instance is, with the query that every change needs.
pub(crate) const INSTANCE: &str = "/oauth/cf-eu10/v2/service_instances/i-1";
pub(crate) const WAITING: &str = "accepts_incomplete=true";
pub(crate) const HINTS: &str = "service_id=47c9dcbf-ff30-448e-ab36-d3bad66ba281\
    &plan_id=361c511f-f939-4621-b228-d0fb79a1fe15&accepts_incomplete=true";

pub(crate) struct Service {
    routes: Router,
    pub(crate) keys: KeyServer,
    /// May do everything; made once, because signing takes its time.
    token: OnceLock<String>,
}

/// The response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/json", "{}", self.text);
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("{why}: {}", self.text))
    }

    pub(crate) fn description(&self) -> String {
        self.json()["description"].as_str().unwrap_or_default().to_owned()
    }

    /// For snapshots.
    pub(crate) fn shown(&self) -> String {
        format!("{}\n{}", self.status, serde_json::to_string_pretty(&self.json()).unwrap())
    }
}

impl Service {
    /// The routes of this broker.
    pub(crate) async fn of(broker: Broker, assume_async: bool) -> Self {
        let tenant = |user: &str, tenant: Option<&str>| Credentials {
            user: user.into(),
            password: PLATFORM.1.to_owned().into(),
            tenant: tenant.map(str::to_owned),
        };
        let platforms = vec![tenant(PLATFORM.0, None), tenant("tenant", Some("ga-1"))];
        Self::opened_to(broker, assume_async, platforms).await
    }

    /// The same for these platforms.
    pub(crate) async fn opened_to(
        broker: Broker,
        assume_async: bool,
        platforms: Vec<Credentials>,
    ) -> Self {
        let keys = KeyServer::start().await;
        let bindings = Bindings::without_runtimes(broker.clone());
        let verifier = Arc::new(keys.verifier());
        let parts = OsbParts { broker, bindings, verifier, platforms, assume_async };
        let limits = RequestLimits { body: 100_000, ..RequestLimits::DEFAULT };
        Self { routes: shielded(router::platforms(parts), limits), keys, token: OnceLock::new() }
    }

    /// The same with an audit of what is asked for.
    pub(crate) fn audited(mut self, audit: AuditLog) -> Self {
        self.routes = self.routes.layer(Extension(audit));
        self
    }

    /// A good token with these scopes, for this tenant or for none.
    pub(crate) fn token(&self, scopes: &[&str], tenant: Option<&str>) -> String {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some("rsa".into());
        let mut claims = json!({
            "iss": self.keys.url, "sub": "platform", "aud": AUDIENCE, "exp": NOW + 3600, "scp": scopes,
        });
        if let Some(tenant) = tenant {
            claims["tenant"] = tenant.into();
        }
        encode(&header, &claims, &self.keys.rsa.private).unwrap()
    }

    /// A request with a token that may do everything, in a version that has everything.
    pub(crate) fn request(&self, method: &str, uri: &str) -> Builder {
        let token = self.token.get_or_init(|| self.token(&[WRITE, ANY], None));
        Request::builder()
            .method(method)
            .uri(uri)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header("x-broker-api-version", "2.17")
            .header("x-correlation-id", "c-1")
    }

    /// A request of nobody.
    pub(crate) async fn anonymous(&self, method: &str, uri: &str) -> Reply {
        let request = Request::builder().method(method).uri(uri);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = to_bytes(response.into_body(), 1 << 22).await.unwrap();
        Reply { status, headers, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub(crate) async fn call(&self, method: &str, uri: &str) -> Reply {
        self.send(self.request(method, uri).body(Body::empty()).unwrap()).await
    }

    /// A request with the body that its method needs.
    pub(crate) async fn put_or_call(&self, method: &str, uri: &str) -> Reply {
        let method = method.to_uppercase();
        if ["PUT", "PATCH"].contains(&method.as_str()) {
            let body = json!({"service_id": "s", "plan_id": "p"});
            return self.send_json(&method, uri, &body).await;
        }
        self.call(&method, uri).await
    }

    pub(crate) async fn put(&self, uri: &str, body: &Value) -> Reply {
        self.send_json("PUT", uri, body).await
    }

    pub(crate) async fn patch(&self, uri: &str, body: &Value) -> Reply {
        self.send_json("PATCH", uri, body).await
    }

    async fn send_json(&self, method: &str, uri: &str, body: &Value) -> Reply {
        let body = Body::from(body.to_string());
        self.send(self.request(method, uri).body(body).unwrap()).await
    }
}

/// User and password as a header has them.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}
