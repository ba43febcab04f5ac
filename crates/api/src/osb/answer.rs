//! Bodies as clients of this API know them: JSON and one line feed.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Value, json};

/// An answer with this body.
pub(super) fn answer(status: StatusCode, body: &impl Serialize) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    match serde_json::to_string(body) {
        Ok(text) => (status, [(header::CONTENT_TYPE, JSON)], text + "\n").into_response(),
        Err(error) => {
            tracing::error!(error = %error, "an answer cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// What is left when nothing that says nothing is said.
pub(super) fn said(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && *value != json!(""));
    }
    body
}
