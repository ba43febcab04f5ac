//! Refusals in the service's words: a status and a message.

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
    #[error("full authentication is required to access this resource")]
    Unauthorized,
    #[error("{0}")]
    Invalid(String),
    #[error("Evaluation {0} not found")]
    NotFound(String),
    #[error("Evaluation {parent} does not contain subevaluation {child}")]
    NoChild { parent: i64, child: i64 },
    #[error("unexpected lifecycle status")]
    Status,
    #[error("internal error")]
    Store(#[from] store::Error),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Invalid(_) | Self::NoChild { .. } => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Status => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Store(error) => {
                tracing::error!(%error, "the availability service cannot keep its state");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        let body = json!({ "status": status.as_u16(), "message": self.to_string() });
        (status, Json(body)).into_response()
    }
}
