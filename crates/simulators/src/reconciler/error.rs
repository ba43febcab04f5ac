//! Refusals in the Reconciler's words: a text under `error`.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::store;

/// A refused request, and the reason.
#[derive(Debug)]
pub(super) enum Refusal {
    BadRequest(String),
    Unauthorized(String),
    Forbidden(String),
    NotFound(String),
    Internal,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Self::BadRequest(text) => (StatusCode::BAD_REQUEST, text),
            Self::Unauthorized(text) => (StatusCode::UNAUTHORIZED, text),
            Self::Forbidden(text) => (StatusCode::FORBIDDEN, text),
            Self::NotFound(text) => (StatusCode::NOT_FOUND, text),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error".into()),
        };
        (status, Json(json!({ "error": error }))).into_response()
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "reconciler simulator: cannot store state");
        Self::Internal
    }
}
