//! Responses: JSON and one line feed, errors with the description and the codes that platforms know, and the layer that gives
//! every response of this API its shape.
//!
//! What a reader would get wrong: no handler makes some of the errors (no route, no token, too large, too slow, a
//! panic). Platforms get them in the shape of this API all the same.

use std::borrow::Cow;

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::instances::Error;
use serde::Serialize;
use serde_json::{Value, json};
use tracing::Instrument;

use crate::{
    correlation::CorrelationId,
    error::{Problem, with_retry_after},
};

/// A response with this body.
pub(super) fn answer(status: StatusCode, body: &impl Serialize) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    match serde_json::to_string(body) {
        Ok(text) => (status, [(header::CONTENT_TYPE, JSON)], text + "\n").into_response(),
        Err(error) => {
            tracing::error!(error = %error, "cannot serialise response");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Drops null and empty fields.
pub(super) fn without_empty_fields(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && *value != json!(""));
    }
    body
}

/// Why a request is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A part of the request cannot be read.
    Bad(String),
    /// The platform's API version is not supported.
    Version(String),
    /// The use case refused it.
    UseCase(Error),
}

impl Refusal {
    pub(super) fn bad(problem: impl Into<String>) -> Self {
        Self::Bad(problem.into())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::UseCase(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Bad(problem) => described(StatusCode::BAD_REQUEST, None, &problem),
            Self::Version(problem) => described(StatusCode::PRECONDITION_FAILED, None, &problem),
            Self::UseCase(Error::Gone) => answer(StatusCode::GONE, &json!({})),
            Self::UseCase(Error::PlanUnchangeable(problem)) => plan_unchangeable(&problem),
            Self::UseCase(error) => refused(&error),
        }
    }
}

fn refused(error: &Error) -> Response {
    let (status, code) = match error {
        Error::Bad(_) | Error::Refused(_) | Error::Limit(_) | Error::Exhausted(_) => {
            (StatusCode::BAD_REQUEST, None)
        }
        Error::AsyncRequired => (StatusCode::UNPROCESSABLE_ENTITY, Some("AsyncRequired")),
        Error::Busy => (StatusCode::UNPROCESSABLE_ENTITY, Some("ConcurrencyError")),
        Error::MaintenanceInfo => {
            (StatusCode::UNPROCESSABLE_ENTITY, Some("MaintenanceInfoConflict"))
        }
        Error::Unprocessable(_) | Error::Unchangeable(_) | Error::PlanUnchangeable(_) => {
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        }
        Error::NotBindable(_) => (StatusCode::UNPROCESSABLE_ENTITY, Some("BindingNotSupported")),
        Error::Foreign => (StatusCode::FORBIDDEN, None),
        Error::NotFound(_) => (StatusCode::NOT_FOUND, None),
        Error::Taken(_) => (StatusCode::CONFLICT, None),
        Error::Gone => (StatusCode::GONE, None),
        Error::Unavailable(_) => {
            tracing::warn!(error = chain(error), "cannot read instances");
            (StatusCode::SERVICE_UNAVAILABLE, None)
        }
        Error::Runtime { .. } => {
            tracing::warn!(error = chain(error), "cannot reach a runtime");
            (StatusCode::SERVICE_UNAVAILABLE, None)
        }
        Error::Internal(_) => {
            tracing::error!(error = chain(error), "cannot read instances");
            (StatusCode::INTERNAL_SERVER_ERROR, None)
        }
    };
    let response = described(status, code, &error.to_string());
    if matches!(error, Error::Unavailable(_) | Error::Runtime { .. }) {
        return with_retry_after(response);
    }
    response
}

/// A change of the plan that would be refused again. The instance is as good as before.
fn plan_unchangeable(problem: &str) -> Response {
    let body = json!({
        "description": shortened(problem),
        "instance_usable": true,
        "update_repeatable": false,
    });
    answer(StatusCode::UNPROCESSABLE_ENTITY, &body)
}

/// The longest description. Texts repeat what was sent, and that may be as long as a request.
const LONGEST: usize = 1_000;

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect::<String>().into(),
    }
}

/// An error with a description, and with a code that platforms know when there is one.
pub(super) fn described(status: StatusCode, code: Option<&str>, description: &str) -> Response {
    let body: Value = json!({"error": code, "description": shortened(description)});
    answer(status, &without_empty_fields(body))
}

const REQUEST_IDENTITY: HeaderName = HeaderName::from_static("x-broker-api-request-identity");

/// Repeats the platform's request identity, and gives every error the shape of this API.
pub(crate) async fn frame(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !(path.starts_with("/oauth/") || path.starts_with("/v2/")) {
        return next.run(request).await;
    }
    let identity = request.headers().get(REQUEST_IDENTITY).cloned();
    let span = tracing::info_span!("osb", request.identity = ?identity);
    let correlation = request.extensions().get::<CorrelationId>().cloned();
    let mut response = shaped(next.run(request).instrument(span).await);
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR
        && let Some(correlation) = correlation
    {
        let description = format!(
            "something is wrong in the broker; its operators find it in the log by the correlation id {correlation}"
        );
        response = with_description(&response, &description);
    }
    if let Some(identity) = identity {
        response.headers_mut().insert(REQUEST_IDENTITY, identity);
    }
    response
}

fn shaped(mut response: Response) -> Response {
    let status = response.status();
    let problem = response.extensions_mut().remove::<Problem>();
    let json = response.headers().get(header::CONTENT_TYPE);
    let json = json.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !(status.is_client_error() || status.is_server_error()) || (json && problem.is_none()) {
        return response;
    }
    let description =
        problem.map_or_else(|| words(status).to_owned(), |problem| problem.description);
    with_description(&response, &description)
}

/// The same answer, in the shape of this API.
fn with_description(response: &Response, description: &str) -> Response {
    let mut shaped = answer(response.status(), &json!({ "description": description }));
    for (name, value) in response.headers() {
        if ![header::CONTENT_LENGTH, header::CONTENT_TYPE].contains(name) {
            shaped.headers_mut().insert(name, value.clone());
        }
    }
    shaped
}

fn words(status: StatusCode) -> &'static str {
    match status {
        StatusCode::REQUEST_TIMEOUT => "the request did not arrive in time",
        StatusCode::PAYLOAD_TOO_LARGE => "the request body is too large",
        StatusCode::GATEWAY_TIMEOUT => "the request took too long",
        status if status.is_client_error() => "the request is not valid",
        _ => "the request could not be completed",
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use axum::body::to_bytes;

    use super::*;

    #[tokio::test]
    async fn every_refusal_has_its_status_and_words() {
        let errors = [
            ("bad", Error::Bad("service_id missing".into())),
            ("limit", Error::Limit("there is only one allowed".into())),
            (
                "exhausted",
                Error::Exhausted("provider accounts are available in the pool \"aws\"".into()),
            ),
            ("async_required", Error::AsyncRequired),
            ("busy", Error::Busy),
            ("maintenance", Error::MaintenanceInfo),
            ("taken", Error::Taken("provisioning operation already exist")),
            ("unchangeable", Error::Unchangeable("the instance was deprovisioned".into())),
            ("plan_unchangeable", Error::PlanUnchangeable("the plan cannot be changed".into())),
            ("foreign", Error::Foreign),
            ("not_found", Error::NotFound("instance with instanceID i-1 does not exist".into())),
            ("gone", Error::Gone),
            ("unavailable", Error::Unavailable("password=hush".into())),
            ("internal", Error::Internal("password=hush".into())),
            ("not_bindable", Error::NotBindable("plan \"azure\" is not bindable".into())),
            ("runtime", Error::Runtime { instance: "i-1".into(), source: "password=hush".into() }),
        ];
        let mut shown = String::new();

        for (name, error) in errors {
            let response = Refusal::from(error).into_response();
            let status = response.status();
            let body = to_bytes(response.into_body(), 10_000).await.unwrap();
            assert!(body.ends_with(b"}\n"));
            let body: Value = serde_json::from_slice(&body).unwrap();
            let body = serde_json::to_string_pretty(&body).unwrap();
            writeln!(shown, "{name}: {status}\n{body}\n").unwrap();
        }

        assert!(!shown.contains("hush"), "{shown}");
        insta::assert_snapshot!("refusals", shown);
    }

    #[tokio::test]
    async fn a_body_is_json_with_a_line_feed_and_without_html_escapes() {
        let response = answer(StatusCode::OK, &json!({"name": "dev <1>"}));

        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        assert_eq!(body, "{\"name\":\"dev <1>\"}\n");
    }

    #[test]
    fn a_long_description_is_cut() {
        let text = shortened(&"x".repeat(900_000)).into_owned();

        assert_eq!(text.chars().count(), LONGEST);
        assert!(text.ends_with('…'));
    }
}
