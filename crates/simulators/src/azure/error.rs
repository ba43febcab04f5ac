//! Refusals in the resource manager's words: a code and a message under `error`.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::store;

/// A refused request, and the reason.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code, message: message.into() }
    }

    pub(super) fn no_group(group: &str) -> Self {
        let message = format!("Resource group '{group}' could not be found.");
        Self::new(404, "ResourceGroupNotFound", message)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = json!({ "code": self.code, "message": self.message });
        (self.status, Json(json!({ "error": error }))).into_response()
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "azure simulator: cannot store state");
        Self::new(500, "InternalServerError", "An unexpected error occurred.")
    }
}
