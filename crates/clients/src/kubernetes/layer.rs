//! The layer under `kube`: every call of its client goes through the gate.
//!
//! What a reader would get wrong: `kube` hands requests to a task of its own, but polls their answers in the
//! task that asked. So who is calling is looked up when the answer is polled, not when the service is called.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use base::caller::Call;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, combinators::UnsyncBoxBody};
use kube::client::Body;
use tower::{BoxError, Layer, Service, ServiceExt};

use super::{AttemptPhrase, UncountedRequest, resource};
use crate::{
    answer,
    error::{Component, Error, Kind, without_answer},
    gate::{CallSpec, Gate},
};

/// Puts a gate in front of a service.
#[derive(Debug, Clone)]
pub struct GateLayer {
    gate: Arc<Gate>,
}

/// A service behind a gate.
#[derive(Debug, Clone)]
pub struct GatedService<S> {
    inner: S,
    gate: Arc<Gate>,
}

type GatedResponse = Response<UnsyncBoxBody<Bytes, BoxError>>;

impl GateLayer {
    /// A layer that puts `gate` in front.
    pub fn new(gate: Arc<Gate>) -> Self {
        Self { gate }
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = GatedService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        GatedService { inner, gate: self.gate.clone() }
    }
}

impl<S, B> Service<Request<Body>> for GatedService<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = GatedResponse;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<GatedResponse, BoxError>> + Send>>;

    /// Always: waiting for the inner service is part of the call, and counts towards its deadline.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (gate, inner) = (self.gate.clone(), self.inner.clone());
        Box::pin(async move { Ok(pass(&gate, inner, request).await?) })
    }
}

async fn pass<S, B>(gate: &Gate, inner: S, request: Request<Body>) -> Result<GatedResponse, Error>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let asked = call_spec(&request);
    let (doing, lasting, method) = (asked.doing.clone(), asked.lasting, asked.method.clone());
    let (component, limit) = (gate.component(), gate.limits().body);
    let judge = |answer: &GatedResponse| {
        let retry_after = answer::retry_after(answer.headers(), gate.clock().now());
        Kind::of_status(answer.status(), retry_after)
    };
    gate.pass(asked, judge, async |call| {
        let failed = |error: BoxError| broken(component, &doing, &method, error.as_ref());
        let request = with_headers(request, call.as_ref());
        let response = inner.oneshot(request).await.map_err(|error| failed(error.into()))?;
        if lasting && response.status().is_success() {
            return Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()));
        }
        let (head, body) = response.into_parts();
        match Limited::new(body, limit).collect().await {
            Ok(body) => {
                let body = Full::new(body.to_bytes()).map_err(|never| match never {});
                Ok(Response::from_parts(head, body.boxed_unsync()))
            }
            Err(error) if error.is::<LengthLimitError>() => {
                Err(answer::too_large(component, &doing))
            }
            Err(error) => Err(failed(error)),
        }
    })
    .await
}

fn call_spec(request: &Request<Body>) -> CallSpec {
    let (method, uri) = (request.method().clone(), request.uri());
    let lasting = uri
        .query()
        .is_some_and(|query| query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1")));
    let verb = if lasting { "WATCH" } else { method.as_str() };
    let route = format!("{verb} {}", resource::kind_of(uri.path()));
    let doing = request.extensions().get().map(|AttemptPhrase(doing)| doing.clone());
    let doing = doing.unwrap_or_else(|| format!("making a call: {route}"));
    let counted = !lasting && request.extensions().get::<UncountedRequest>().is_none();
    CallSpec { route, doing, method, counted, lasting, hint: false }
}

fn with_headers(mut request: Request<Body>, call: Option<&Call>) -> Request<Body> {
    for (name, value) in call.into_iter().flat_map(Call::headers) {
        // A step's name that is no header value is left out rather than failing the call.
        if let Ok(value) = HeaderValue::try_from(value) {
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    request
}

/// A failure below HTTP. Texts of errors below this level carry no address and no body.
fn broken(
    component: Component,
    doing: &str,
    method: &http::Method,
    error: &(dyn std::error::Error + Send + Sync + 'static),
) -> Error {
    let never_connected = error
        .downcast_ref::<hyper_util::client::legacy::Error>()
        .is_some_and(hyper_util::client::legacy::Error::is_connect);
    let kind = without_answer(method, never_connected);
    Error::new(component, kind, doing).saying(base::failure::chain(error))
}
