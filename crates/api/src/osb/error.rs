//! Errors in the words of this API: a status, sometimes a code that platforms know, and a description.

use std::borrow::Cow;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::instances::Error;
use serde_json::{Value, json};

use super::answer::{answer, said};

/// A request that is not answered as asked.
#[derive(Debug)]
pub(super) enum Refused {
    /// A part of it cannot be read.
    Bad(String),
    /// The platform speaks a version that is not spoken here.
    Version(String),
    /// The use case says no.
    UseCase(Error),
}

impl Refused {
    pub(super) fn bad(problem: impl Into<String>) -> Self {
        Self::Bad(problem.into())
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::UseCase(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Self::Bad(problem) => described(StatusCode::BAD_REQUEST, None, &problem),
            Self::Version(problem) => described(StatusCode::PRECONDITION_FAILED, None, &problem),
            Self::UseCase(Error::Gone) => answer(StatusCode::GONE, &json!({})),
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
        Error::Foreign => (StatusCode::FORBIDDEN, None),
        Error::NotFound(_) => (StatusCode::NOT_FOUND, None),
        Error::Taken(_) => (StatusCode::CONFLICT, None),
        Error::Gone => (StatusCode::GONE, None),
        Error::Unavailable(_) => {
            tracing::warn!(error = chain(error), "instances cannot be reached");
            (StatusCode::SERVICE_UNAVAILABLE, None)
        }
        Error::Internal(_) => {
            tracing::error!(error = chain(error), "instances cannot be reached");
            (StatusCode::INTERNAL_SERVER_ERROR, None)
        }
    };
    let mut response = described(status, code, &error.to_string());
    if matches!(error, Error::Unavailable(_)) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
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
    answer(status, &said(body))
}
