//! Refusals in Kubernetes' words.
//!
//! Every request that is not done is answered with one of these. Clients decide by `reason` and
//! `code`; the message is for people.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::Kind;

/// A refusal, as a Kubernetes `Status` object says it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The word clients match on, such as `NotFound`; some errors of Kubernetes have none.
    pub reason: &'static str,
    /// The message for people.
    pub message: String,
    /// The object and the causes, as in `details` of a `Status`.
    pub details: Option<Box<Value>>,
}

/// One field that makes an object invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Such as `FieldValueInvalid`.
    pub reason: &'static str,
    /// Such as `metadata.name`.
    pub field: String,
    /// The problem.
    pub message: String,
}

impl Cause {
    /// A value that is not allowed.
    pub fn invalid(field: impl Into<String>, value: &str, why: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {value:?}: {why}"),
        }
    }

    /// A value that is missing.
    pub fn required(field: impl Into<String>, why: &str) -> Self {
        let message = format!("Required value: {why}");
        Self { reason: "FieldValueRequired", field: field.into(), message }
    }

    /// A value that may not be set or changed here.
    pub fn forbidden(field: impl Into<String>, why: &str) -> Self {
        let message = format!("Forbidden: {why}");
        Self { reason: "FieldValueForbidden", field: field.into(), message }
    }
}

impl Status {
    /// Any refusal.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None }
    }

    /// The request makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Unknown credentials, or expired ones.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// Known, but not allowed.
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} {name:?} is forbidden: {why}", kind.resource());
        Self::new(403, "Forbidden", message).about(kind, name)
    }

    /// There is no such object.
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} {name:?} not found", kind.resource()))
            .about(kind, name)
    }

    /// The change could not be written to the log, most likely because the disk is full. Nothing was changed.
    pub(crate) fn not_stored(why: &std::io::Error) -> Self {
        Self::new(503, "ServiceUnavailable", format!("the change cannot be stored: {why}"))
    }

    /// There is no such path.
    pub fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    /// This path does not know this verb.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message)
    }

    /// The name is taken.
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", kind.resource());
        Self::new(409, "AlreadyExists", message).about(kind, name)
    }

    /// Modified concurrently, or a precondition does not hold.
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message =
            format!("Operation cannot be fulfilled on {} {name:?}: {why}", kind.resource());
        Self::new(409, "Conflict", message).about(kind, name)
    }

    /// The version asked for is not remembered any more.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// This kind of body is not understood.
    pub fn unsupported_media(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The object breaks rules, named one by one.
    pub fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        let said: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let said = if let [one] = said.as_slice() {
            one.clone()
        } else {
            format!("[{}]", said.join(", "))
        };
        let dot = if kind.group.is_empty() { "" } else { "." };
        let message = format!("{}{dot}{} {name:?} is invalid: {said}", kind.kind, kind.group);
        Self::new(422, "Invalid", message).about(kind, name).because(causes)
    }

    /// Something broke on our side.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {}", message.into()))
    }

    /// Names the object in the details.
    pub fn about(mut self, kind: &Kind, name: &str) -> Self {
        // Kubernetes puts the plural here, except that 422 carries the kind.
        let word = if self.code == 422 { &kind.kind } else { &kind.plural };
        let mut details = json!({"kind": word});
        if !name.is_empty() {
            details["name"] = json!(name);
        }
        if !kind.group.is_empty() {
            details["group"] = json!(kind.group);
        }
        self.details = Some(Box::new(details));
        self
    }

    /// Adds the causes to the details.
    pub fn because(mut self, causes: &[Cause]) -> Self {
        let causes: Vec<Value> = causes
            .iter()
            .map(|c| json!({"reason": c.reason, "field": c.field, "message": c.message}))
            .collect();
        self.details.get_or_insert_with(|| Box::new(json!({})))["causes"] = json!(causes);
        self
    }

    /// Asks the client to come back after some seconds.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        let details = self.details.get_or_insert_with(|| Box::new(json!({})));
        details["retryAfterSeconds"] = json!(seconds);
        self
    }

    /// The `Status` object.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            body["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            body["details"] = (**details).clone();
        }
        body
    }
}

impl IntoResponse for Status {
    fn into_response(self) -> Response {
        let code = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let wait = self.details.as_ref().and_then(|d| d["retryAfterSeconds"].as_u64());
        let mut response = (code, Json(self.body())).into_response();
        if let Some(seconds) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
