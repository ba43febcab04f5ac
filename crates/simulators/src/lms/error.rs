//! Refusals in the service's words: an error and a message.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::store;

/// A refused request, and the reason.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the token is not known")]
    Unauthorized,
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    NotFound(&'static str),
    #[error("internal error")]
    Signing(#[from] rcgen::Error),
    #[error("internal error")]
    Store(#[from] store::Error),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Signing(_) | Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(error = ?self, "the logging service cannot do what it was asked to do");
        }
        let error = status.canonical_reason().unwrap_or_default();
        (status, Json(json!({ "error": error, "message": self.to_string() }))).into_response()
    }
}
