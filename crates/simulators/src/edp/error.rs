//! Refusals of the platform.

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
    #[error("a valid token is required")]
    Unauthorized,
    #[error("the scope {0} is required")]
    Forbidden(&'static str),
    #[error("{0}")]
    Invalid(String),
    #[error("{0} does not exist")]
    NotFound(&'static str),
    #[error("{0} exists already")]
    Exists(&'static str),
    #[error("the data tenant still has metadata")]
    InUse,
    #[error("internal error")]
    Store(#[from] store::Error),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Exists(_) | Self::InUse => StatusCode::CONFLICT,
            Self::Store(error) => {
                tracing::error!(%error, "the event data platform cannot keep its state");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        (status, Json(json!({ "message": self.to_string() }))).into_response()
    }
}
