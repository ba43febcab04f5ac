//! The routes around a recorder, and how tests call them.

use std::sync::Arc;

use api::{
    Limits,
    graphql::QueryLimits,
    router::{ProvisionerParts, provisioner, shielded},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode, header, request::Builder},
};
use jsonwebtoken::{Algorithm, Header, encode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{
    recorder::Recorder,
    support::{
        operations::Half,
        tokens::{AUDIENCE, KeyServer, NOW},
    },
};

pub(crate) const READ: &str = "provisioner:read";
pub(crate) const WRITE: &str = "provisioner:write";
pub(crate) const KUBECONFIG: &str = "provisioner:kubeconfig";
pub(crate) const ANY: &str = "tenants:any";
pub(crate) const TENANT: &str = "tenant-1";

pub(crate) struct Service {
    pub(crate) runtimes: Arc<Recorder>,
    routes: Router,
    keys: KeyServer,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("{why}: {}", self.text))
    }

    /// The data of an answer without errors.
    pub(crate) fn data(&self) -> Value {
        let body = self.json();
        assert_eq!(self.status, StatusCode::OK, "{body}");
        assert_eq!(body.get("errors"), None, "{body}");
        body["data"].clone()
    }

    /// The one error of an answer.
    pub(crate) fn error(&self) -> Value {
        let body = self.json();
        assert_eq!(body["errors"].as_array().unwrap().len(), 1, "{body}");
        body["errors"][0].clone()
    }
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::limited(QueryLimits::DEFAULT).await
    }

    pub(crate) async fn limited(limits: QueryLimits) -> Self {
        let keys = KeyServer::start().await;
        let runtimes = Arc::new(Recorder::new());
        let parts = ProvisionerParts {
            provisioner: runtimes.clone(),
            readiness: Arc::new(Half),
            verifier: Arc::new(keys.verifier()),
            limits,
        };
        let limits = Limits { body: 200_000, ..Limits::DEFAULT };
        Self { runtimes, routes: shielded(provisioner(parts), limits), keys }
    }

    /// A good token with these scopes, for this tenant or for none.
    pub(crate) fn token(&self, scopes: &[&str], tenant: Option<&str>) -> String {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some("rsa".into());
        let mut claims = json!({
            "iss": self.keys.url, "sub": "broker", "aud": AUDIENCE, "exp": NOW + 3600, "scp": scopes,
        });
        if let Some(tenant) = tenant {
            claims["tenant"] = tenant.into();
        }
        encode(&header, &claims, &self.keys.rsa.private).unwrap()
    }

    /// A request with a token that may do everything, and a tenant.
    pub(crate) fn request(&self, method: &str, uri: &str) -> Builder {
        let token = self.token(&[READ, WRITE, KUBECONFIG, ANY], None);
        Request::builder()
            .method(method)
            .uri(uri)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header("tenant", TENANT)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = to_bytes(response.into_body(), 1 << 22).await.unwrap();
        Reply { status, headers, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub(crate) async fn post(&self, body: &Value) -> Reply {
        let request = self.request("POST", "/graphql").header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Runs a document.
    pub(crate) async fn run(&self, query: &str) -> Reply {
        self.post(&json!({"query": query})).await
    }

    /// Runs a document with variables.
    pub(crate) async fn run_with(&self, query: &str, variables: Value) -> Reply {
        self.post(&json!({"query": query, "variables": variables})).await
    }

    /// Sends a query by GET.
    pub(crate) async fn get(&self, parameters: &[(&str, &str)]) -> Reply {
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let request = self.request("GET", &format!("/graphql?{query}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }
}
