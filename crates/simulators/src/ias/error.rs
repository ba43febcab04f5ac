//! Refusals of the service.

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
    #[error("the user is not known")]
    Unauthorized,
    #[error("{0}")]
    Invalid(String),
    #[error("{0} does not exist")]
    NotFound(&'static str),
    #[error("a service provider with this name exists already")]
    Exists,
    #[error("internal error")]
    Broken,
    #[error("internal error")]
    Store(#[from] store::Error),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Exists => StatusCode::CONFLICT,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Store(error) => {
                tracing::error!(%error, "identity authentication cannot keep its state");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        (status, Json(json!({ "message": self.to_string() }))).into_response()
    }
}
