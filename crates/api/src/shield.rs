//! The layers around all routes of a service: limits, panics, correlation.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode, Uri, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};
use tower_http::{
    catch_panic::CatchPanicLayer, limit::RequestBodyLimitLayer, timeout::TimeoutLayer,
};

use crate::{correlation::correlate, error::Error, osb};

/// Limits of one request.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// The largest body, in bytes.
    pub body: usize,
    /// The longest time until the whole body is there.
    pub body_time: Duration,
    /// The longest time until the answer begins.
    pub time: Duration,
}

impl RequestLimits {
    /// Defaults for most callers.
    pub const DEFAULT: Self = Self {
        body: 1024 * 1024,
        body_time: Duration::from_secs(10),
        time: Duration::from_secs(30),
    };
}

/// All names and values together; what a token and a few proxies need is far less.
const LARGEST_HEADERS: usize = 32 * 1024;
/// The paths that are answered even when there are too many connections.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// Marks a request on a connection beyond the limits: health is answered, everything else is sent away.
#[derive(Debug, Clone, Copy)]
pub struct Overloaded;

/// Puts the layers around a service's routes: limits, panics, correlation.
pub fn shielded(routes: Router, limits: RequestLimits) -> Router {
    routes
        .fallback(elsewhere)
        .method_not_allowed_fallback(async || Error::NoMethod)
        .layer(RequestBodyLimitLayer::new(limits.body))
        .layer(from_fn_with_state(limits.body_time, timely_body))
        .layer(from_fn(small_headers))
        .layer(from_fn(shed))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, limits.time))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(osb::frame))
        .layer(from_fn(correlate))
}

/// Sends clients whose base address ends with a slash to the path that they mean. It is not served at once, so that the rules of
/// a proxy in front of us see that path, too.
async fn elsewhere(method: Method, uri: Uri) -> Response {
    let Some(path) = with_single_slashes(uri.path()) else {
        return Error::NoRoute.into_response();
    };
    let location = uri.query().map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
    // With the first, clients repeat other methods as GET.
    let safe = [Method::GET, Method::HEAD].contains(&method);
    let status = if safe { StatusCode::MOVED_PERMANENTLY } else { StatusCode::PERMANENT_REDIRECT };
    (status, [(header::LOCATION, location)]).into_response()
}

/// The path without slashes that a base address has doubled: at the beginning, and before `/v2/`. None if there are none.
/// Those behind stand for an id that is empty, and stay.
fn with_single_slashes(path: &str) -> Option<String> {
    let (base, rest) = path.split_at(path.find("/v2/").unwrap_or(0));
    let parts = base.split('/').filter(|part| !part.is_empty());
    let base: String = parts.flat_map(|part| ["/", part]).collect();
    let clean = format!("{base}/{}", rest.trim_start_matches('/'));
    // Browsers take `/\host` for an address of that host.
    (clean != path && !clean.contains('\\')).then_some(clean)
}

async fn small_headers(request: Request, next: Next) -> Response {
    let size: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > LARGEST_HEADERS {
        return Error::HeadersTooLarge.into_response();
    }
    next.run(request).await
}

/// Ends a body that does not come in time, counted from the first read: checking a token may take a
/// while. Handlers read bodies whole before they do anything, so the request has changed nothing, and 408 says so.
async fn timely_body(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    let late = Arc::new(AtomicBool::new(false));
    let mark = late.clone();
    let request = request.map(|body| {
        let chunks = stream::unfold(Some((body.into_data_stream(), None)), move |state| {
            let mark = mark.clone();
            async move {
                let (mut chunks, deadline) = state?;
                let deadline = deadline.unwrap_or_else(|| Instant::now() + limit);
                let Ok(chunk) = timeout_at(deadline, chunks.next()).await else {
                    mark.store(true, Ordering::Relaxed);
                    return Some((Err(axum::Error::new(Late)), None));
                };
                Some((chunk?, Some((chunks, Some(deadline)))))
            }
        });
        Body::from_stream(chunks)
    });
    let response = next.run(request).await;
    if late.load(Ordering::Relaxed) { Error::BodyTooSlow.into_response() } else { response }
}

/// The body did not come in time.
#[derive(Debug, thiserror::Error)]
#[error("the request body did not arrive in time")]
struct Late;

async fn shed(request: Request, next: Next) -> Response {
    let overloaded = request.extensions().get::<Overloaded>().is_some();
    if overloaded && !HEALTH.contains(&request.uri().path()) {
        return Error::Unavailable.into_response();
    }
    next.run(request).await
}

#[expect(clippy::needless_pass_by_value, reason = "the layer gives the panic away")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    tracing::error!(panic = text, "a handler panicked");
    Error::Internal.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slashes_that_a_base_address_doubles_become_one() {
        for (path, clean) in [
            ("//runtimes", Some("/runtimes")),
            ("///runtimes", Some("/runtimes")),
            ("//", Some("/")),
            ("//v2/catalog", Some("/v2/catalog")),
            ("//oauth//cf-eu10///v2/catalog", Some("/oauth/cf-eu10/v2/catalog")),
            ("//evil.test/runtimes", Some("/evil.test/runtimes")),
            ("//\\evil.test", None),
            ("/runtimes", None),
            ("/runtimes/", None),
            ("/operations//journal", None),
            ("/oauth/v2/service_instances//last_operation", None),
            ("/oauth/v2/service_instances//v2/x", None),
            ("/", None),
        ] {
            assert_eq!(with_single_slashes(path).as_deref(), clean, "{path}");
        }
    }
}
