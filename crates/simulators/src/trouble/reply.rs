//! Answers that no simulator gave.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};

/// An answer as gateways give it by default.
pub(super) fn error(status: u16, body: Option<String>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = body.as_deref().is_some_and(|body| body.trim_start().starts_with(['{', '[']));
    let media = if json { "application/json" } else { "text/html; charset=utf-8" };
    let body = body.unwrap_or_else(|| format!("<html><body><h1>{status}</h1></body></html>\n"));
    (status, [(CONTENT_TYPE, media)], body).into_response()
}

/// Too many requests, with the time to come back.
pub(super) fn busy(now: Timestamp, seconds: u64, as_date: bool) -> Response {
    let at = now.checked_add(Duration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok();
    let text = date.filter(|_| as_date).unwrap_or_else(|| seconds.to_string());
    let mut answer = error(429, None);
    if let Ok(text) = HeaderValue::from_str(&text) {
        answer.headers_mut().insert(RETRY_AFTER, text);
    }
    answer
}

/// The same answer with another body, or with half of its own.
pub(super) fn malformed(mut answer: Response, body: &Bytes, text: Option<String>) -> Response {
    let half = || {
        let mut half = body.slice(..body.len() / 2).to_vec();
        half.extend_from_slice(b"{\"");
        half
    };
    answer.headers_mut().remove(CONTENT_LENGTH);
    *answer.body_mut() = Body::from(text.map_or_else(half, String::into_bytes));
    answer
}

/// The same answer under another media type.
pub(super) fn mistyped(mut answer: Response, media: &str) -> Response {
    if let Ok(media) = HeaderValue::from_str(media) {
        answer.headers_mut().insert(CONTENT_TYPE, media);
    }
    answer
}
