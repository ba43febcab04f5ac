//! Refusals of the notification service.

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
    #[error("{0}")]
    Invalid(String),
    #[error("maintenance event {0} does not exist")]
    NotFound(String),
    #[error("maintenance event {0} exists already")]
    Exists(String),
    #[error("internal error")]
    Store(#[from] store::Error),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Exists(_) => StatusCode::CONFLICT,
            Self::Store(error) => {
                tracing::error!(%error, "the notification service cannot keep its state");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        (status, Json(json!({ "message": self.to_string() }))).into_response()
    }
}
