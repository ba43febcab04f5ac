//! One error type for the operators' API: a code, a short text, a correlation id, nothing else.
//!
//! What a reader would get wrong: the body is not written here. The correlation id belongs to the
//! request, so `correlation` writes the body on the way out, for these errors and for all others.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::operations::view::OperationsError;
use serde_json::json;

/// A request that is not answered as asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A part of the request is not as it should be.
    #[error("{field} {problem}")]
    Bad {
        /// The field, parameter or header.
        field: &'static str,
        /// The problem.
        problem: String,
    },
    /// There is no such thing.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The instance has no leftovers.
    #[error("instance {0} has no leftovers")]
    NoLeftovers(String),
    /// There is no such route.
    #[error("there is nothing at this path")]
    NoRoute,
    /// The path is served, but not with this method.
    #[error("the method is not served at this path")]
    NoMethod,
    /// Something is in the way.
    #[error("{0}")]
    Conflict(String),
    /// The headers are too large.
    #[error("the request headers are too large")]
    HeadersTooLarge,
    /// The body did not come in time.
    #[error("the request body did not arrive in time")]
    BodyTooSlow,
    /// No credentials, or unknown ones.
    #[error("a valid token is needed")]
    Unauthorized,
    /// The caller lacks the scope.
    #[error("the token does not allow this")]
    Forbidden,
    /// Too many failed attempts.
    #[error("too many requests, try again later")]
    TooMany,
    /// Something that is needed is not there right now.
    #[error("the service is not available right now")]
    Unavailable,
    /// Our fault.
    #[error("the request could not be completed")]
    Internal,
}

/// What goes into the body, carried to the place that knows the correlation id.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) description: String,
}

/// Marks a failure whose body is complete: it has a form that known clients read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HasBody;

impl Error {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Bad { .. } => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::NotFound(_) | Self::NoLeftovers(_) | Self::NoRoute => {
                (StatusCode::NOT_FOUND, "not_found")
            }
            Self::NoMethod => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "conflict"),
            Self::HeadersTooLarge => {
                (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large")
            }
            Self::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "request_timeout"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        let mut response = status.into_response();
        match self {
            Self::Unauthorized => {
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Unavailable | Self::TooMany => {
                response = with_retry_after(response);
            }
            _ => {}
        }
        response.extensions_mut().insert(Problem { code, description: self.to_string() });
        response
    }
}

/// A request that is not answered as asked, in the words of known clients: one text.
#[derive(Debug)]
pub(crate) struct ErrorText(pub(crate) StatusCode, pub(crate) String);

impl ErrorText {
    pub(crate) fn bad(problem: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, problem.into())
    }

    /// A parameter is wrong; `problem` names it.
    pub(crate) fn query(problem: impl std::fmt::Display) -> Self {
        Self::bad(format!("while getting query parameters: {problem}"))
    }
}

impl IntoResponse for ErrorText {
    fn into_response(self) -> Response {
        let Self(status, text) = self;
        let response = (status, Json(json!({ "error": text }))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return with_retry_after(response);
        }
        response
    }
}

/// A response after which the caller may try again in five seconds.
pub(crate) fn with_retry_after(mut response: Response) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

impl From<OperationsError> for Error {
    fn from(error: OperationsError) -> Self {
        match &error {
            OperationsError::Unknown(id) => Self::NotFound(format!("operation {id}")),
            OperationsError::Ended(id) => Self::Conflict(format!("operation {id} has ended")),
            OperationsError::Conflict(text) => Self::Conflict(text.clone()),
            OperationsError::Bad { field, problem } => {
                Self::Bad { field, problem: problem.clone() }
            }
            OperationsError::Unavailable(_) => {
                tracing::warn!(error = chain(&error), "operations cannot be read");
                Self::Unavailable
            }
            OperationsError::Internal(_) => {
                tracing::error!(error = chain(&error), "operations cannot be read");
                Self::Internal
            }
        }
    }
}
