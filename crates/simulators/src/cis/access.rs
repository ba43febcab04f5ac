//! The door: who calls, how often, and how refusals look.

use std::{sync::PoisonError, time::Duration};

use axum::{
    Json,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::Cis;

const SECOND: Duration = Duration::from_secs(1);

/// A refused request, and the reason.
#[derive(Debug)]
pub(super) enum Refusal {
    BadRequest(&'static str),
    Unauthorized(String),
    NotFound(String),
    Gone,
    TooMany,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::BadRequest(text) => (StatusCode::BAD_REQUEST, text.to_owned()),
            Self::Unauthorized(text) => (StatusCode::UNAUTHORIZED, text),
            Self::NotFound(text) => (StatusCode::NOT_FOUND, text),
            Self::Gone => (StatusCode::GONE, "the cursor has expired".into()),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "rate limit exceeded".into()),
        };
        let body = json!({ "error": { "code": status.as_u16(), "message": message } });
        let mut answer = (status, Json(body)).into_response();
        if status == StatusCode::TOO_MANY_REQUESTS {
            answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        answer
    }
}

impl Cis {
    /// Lets a caller in who is known and does not come too often.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let header = headers.get(header::AUTHORIZATION).and_then(|header| header.to_str().ok());
        let token = header
            .and_then(|header| header.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .ok_or_else(|| Refusal::Unauthorized("a bearer token is required".into()))?;
        self.issuer
            .verify(token.1.trim())
            .map_err(|error| Refusal::Unauthorized(error.to_string()))?;
        let Some(most) = self.known.read(|known| known.per_second) else { return Ok(()) };
        let now = self.clock.monotonic();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.front().is_some_and(|at| now.saturating_sub(*at) >= SECOND) {
            calls.pop_front();
        }
        if calls.len() >= most {
            return Err(Refusal::TooMany);
        }
        calls.push_back(now);
        Ok(())
    }
}
