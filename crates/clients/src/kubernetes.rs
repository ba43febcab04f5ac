//! Kubernetes through `kube`: the garden, the control plane's own cluster, the runtimes.
//!
//! What a reader would get wrong: `kube`'s own methods write a body that they cannot read into the log,
//! Secrets included, and try some calls again. So [`Objects`] makes the calls, over `kube`'s client; what
//! it has for watching is used as it is.

mod admission;
mod classify;
mod clusters;
mod connect;
mod kubeconfigs;
mod layer;
mod manifests;
mod networks;
mod objects;
mod resource;
mod warnings;

use std::sync::Arc;

use http::{Request, header::CONTENT_TYPE};
use http_body_util::BodyExt;
use kube::client::Body;
use reqwest::Method;
use serde::de::DeserializeOwned;

pub(crate) use self::objects::{is_missing, names_no_object};
pub use self::{
    classify::error as classified,
    clusters::Clusters,
    connect::problem_of_customer,
    kubeconfigs::{ClusterAddress, OidcLogin},
    layer::{GateLayer, GatedService},
    networks::{Network, Networks, NoNetwork},
    objects::{Objects, is_no_kind},
    resource::Resource,
};
use crate::{
    answer::{self, Raw},
    error::{Error, Kind},
    gate::Gate,
};

/// A cluster that can be spoken to.
#[derive(Clone)]
pub struct Cluster {
    client: kube::Client,
    gate: Arc<Gate>,
}

/// The attempted action, carried with a request down to the layer that needs the phrase.
#[derive(Debug, Clone)]
struct AttemptPhrase(String);

/// Marks a request that only some runs of a step make: it gets no key and no number.
#[derive(Debug, Clone)]
struct UncountedRequest;

/// A request before it has a body.
struct RequestHead<'a> {
    method: Method,
    /// Path and query, escaped.
    path: &'a str,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Cluster {
    /// The client below: for `kube`'s watchers and controllers. Its calls go through the gate too.
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// The objects of one kind, in one namespace or in none.
    pub fn objects<T>(&self, resource: Resource, namespace: Option<&str>) -> Objects<T> {
        Objects::new(self.clone(), resource, namespace)
    }

    /// Asks for the version of the API server, which every authenticated caller may read.
    pub async fn version(&self) -> Result<String, Error> {
        #[derive(serde::Deserialize)]
        struct Version {
            #[serde(rename = "gitVersion")]
            git_version: String,
        }
        let ask = RequestHead {
            method: Method::GET,
            path: "/version",
            content_type: "application/json",
            body: Vec::new(),
        };
        Ok(self.send::<Version>("asking for its version", ask).await?.git_version)
    }

    /// Reads a document that is no object. What is kept for a while is read by some runs of a step only, so the call is not
    /// one that a run is numbered by.
    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        doing: &str,
        path: &str,
    ) -> Result<T, Error> {
        let ask = RequestHead {
            method: Method::GET,
            path,
            content_type: "application/json",
            body: Vec::new(),
        };
        let request = self.request(doing, ask)?;
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(UncountedRequest);
        Ok(self.answered(doing, Request::from_parts(parts, body)).await?.0)
    }

    /// The gate that all calls pass.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    async fn send<T: DeserializeOwned>(
        &self,
        doing: &str,
        ask: RequestHead<'_>,
    ) -> Result<T, Error> {
        Ok(self.send_warned(doing, ask).await?.0)
    }

    /// The same, with the warnings that came with the answer.
    async fn send_warned<T: DeserializeOwned>(
        &self,
        doing: &str,
        ask: RequestHead<'_>,
    ) -> Result<(T, Vec<String>), Error> {
        let request = self.request(doing, ask)?;
        self.answered(doing, request).await
    }

    fn request(&self, doing: &str, ask: RequestHead<'_>) -> Result<Request<Body>, Error> {
        let component = self.gate.component();
        Request::builder()
            .method(ask.method)
            .uri(ask.path)
            .header(CONTENT_TYPE, ask.content_type)
            .header("accept", "application/json")
            .extension(AttemptPhrase(doing.to_owned()))
            .body(Body::from(ask.body))
            .map_err(|error| Error::below(component, Kind::Refused { status: 400 }, doing, error))
    }

    async fn answered<T: DeserializeOwned>(
        &self,
        doing: &str,
        request: Request<Body>,
    ) -> Result<(T, Vec<String>), Error> {
        let component = self.gate.component();
        let response = self.client.send(request).await;
        let response = response.map_err(|error| classify::error(component, doing, error))?;
        let warnings = warnings::read(response.headers());
        for warning in &warnings {
            tracing::warn!(system = %component, doing, warning, "{component} warns while {doing}: {warning}");
            self.gate.warned();
        }
        let now = self.gate.clock().now();
        let mut raw = Raw::head(response.status(), response.headers(), now);
        // The layer has read the body already, and cut it off where it was too long.
        let body = response.into_body().collect().await;
        raw.body =
            body.map_err(|error| classify::error(component, doing, error))?.to_bytes().into();
        match classify::failure(&raw, component, doing) {
            Some(error) => Err(error),
            None => Ok((answer::parsed(&raw.body, component, doing)?, warnings)),
        }
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("component", &self.gate.component())
            .field("limits", self.gate.limits())
            .finish_non_exhaustive()
    }
}
