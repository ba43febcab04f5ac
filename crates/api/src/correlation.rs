//! Gives every request a correlation id, and every failed one the same kind of body.
//!
//! Failures that no handler made (no route, too large, too slow, a panic) pass through here as well,
//! so a caller never sees an error in another shape.

use std::fmt;

use axum::{
    Json,
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde_json::json;
use tracing::Instrument;
use uuid::Uuid;

use crate::error::{HasBody, Problem};

const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");
const LONGEST: usize = 64;

/// Names one request in answers and in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorrelationId(String);

impl CorrelationId {
    /// The caller's own id if it sent a harmless one, or a new one.
    fn of(headers: &HeaderMap) -> Self {
        let harmless = |text: &&str| {
            (1..=LONGEST).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        headers
            .get(HEADER)
            .and_then(|value| value.to_str().ok())
            .filter(harmless)
            .map_or_else(|| Self(Uuid::new_v4().to_string()), |text| Self(text.to_owned()))
    }
}

impl fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The outermost layer.
pub(crate) async fn correlate(mut request: Request, next: Next) -> Response {
    let id = CorrelationId::of(request.headers());
    let span = tracing::info_span!(
        "request",
        correlation.id = %id,
        method = %request.method(),
        path = request.uri().path(),
    );
    request.extensions_mut().insert(id.clone());

    let mut response = next.run(request).instrument(span.clone()).await;

    let status = response.status();
    span.in_scope(|| tracing::debug!(status = status.as_u16(), "answered with {status}"));
    if let Some(problem) = problem(&mut response) {
        response = with_body(response, &problem, &id);
    }
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

fn problem(response: &mut Response) -> Option<Problem> {
    let known = response.extensions_mut().remove::<Problem>();
    let status = response.status();
    let has_body = response.extensions().get::<HasBody>().is_some();
    if known.is_some() || has_body || !(status.is_client_error() || status.is_server_error()) {
        return known;
    }
    let described = response
        .headers()
        .get(header::CONTENT_TYPE)
        // The console says in a page of its own what is wrong.
        .is_some_and(|kind| {
            [&b"application/json"[..], b"text/html"]
                .iter()
                .any(|it| kind.as_bytes().starts_with(it))
        });
    (!described).then(|| {
        let (code, description) = match status {
            StatusCode::PAYLOAD_TOO_LARGE => ("too_large", "the request body is too large"),
            StatusCode::GATEWAY_TIMEOUT => ("timeout", "the request took too long"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ("unsupported", "the content type is not served"),
            status if status.is_client_error() => ("bad_request", "the request is not valid"),
            _ => ("internal", "the request could not be completed"),
        };
        Problem { code, description: description.into() }
    })
}

fn with_body(response: Response, problem: &Problem, id: &CorrelationId) -> Response {
    let (mut parts, _) = response.into_parts();
    let body = Json(json!({
        "error": problem.code,
        "description": problem.description,
        "correlation_id": id.0,
    }));
    let described = body.into_response();
    parts.headers.remove(header::CONTENT_LENGTH);
    for (name, value) in described.headers() {
        parts.headers.insert(name, value.clone());
    }
    Response::from_parts(parts, Body::new(described.into_body()))
}
