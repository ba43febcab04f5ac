//! All that can happen to one call.

use std::time::Duration;

use serde_json::json;

use crate::trouble::{Cut, Kind};

/// Something that happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is reset when so much of the answer has left.
    Reset(Cut),
    /// The body is shorter than announced.
    Truncated,
    /// Applied, and the connection ends without an answer.
    LostAnswer,
    /// Applied, and answered with this status.
    AppliedThen(u16),
    /// Not applied, and answered with this status.
    Status(u16),
    /// 429 with the time to wait in seconds.
    BusyForSeconds,
    /// 429 with the time to wait as a date.
    BusyUntil,
    /// Applied, and answered with half a JSON text.
    HalfJson,
    /// Applied, and answered with nothing.
    Empty,
    /// Applied and answered, under another media type.
    Mistyped,
    /// Never answered, and not applied.
    Silent,
    /// Answered as if it were applied.
    Phantom,
    /// Delivered twice.
    Duplicate,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 28] = [
        Self::Reset(Cut::BeforeHeaders),
        Self::Reset(Cut::AfterHeaders),
        Self::Reset(Cut::InBody),
        Self::Reset(Cut::AfterBody),
        Self::Truncated,
        Self::LostAnswer,
        Self::AppliedThen(500),
        Self::AppliedThen(504),
        Self::Status(400),
        Self::Status(401),
        Self::Status(403),
        Self::Status(404),
        Self::Status(408),
        Self::Status(409),
        Self::Status(422),
        Self::Status(425),
        Self::Status(429),
        Self::BusyForSeconds,
        Self::BusyUntil,
        Self::Status(500),
        Self::Status(502),
        Self::Status(503),
        Self::HalfJson,
        Self::Empty,
        Self::Mistyped,
        Self::Silent,
        Self::Phantom,
        Self::Duplicate,
    ];

    /// How long 429 asks to wait.
    pub const WAIT: Duration = Duration::from_secs(30);

    /// The trouble that makes it happen to a system which speaks like this.
    pub fn trouble(self, speaks: Speaks) -> Kind {
        let retry_after_seconds = Self::WAIT.as_secs();
        match self {
            Self::Reset(when) => Kind::Reset { when },
            Self::Truncated => Kind::Truncated,
            Self::LostAnswer => Kind::LostAnswer { status: None },
            Self::AppliedThen(status) => Kind::LostAnswer { status: Some(status) },
            Self::Status(status) => Kind::Status { status, body: speaks.refusal(status) },
            Self::BusyForSeconds => Kind::Busy { retry_after_seconds, as_date: false },
            Self::BusyUntil => Kind::Busy { retry_after_seconds, as_date: true },
            Self::HalfJson => Kind::Malformed { body: None },
            Self::Empty => Kind::Malformed { body: Some(String::new()) },
            Self::Mistyped => Kind::Mistyped { media: "text/html".into() },
            Self::Silent => Kind::Silent,
            Self::Phantom => Kind::Phantom,
            Self::Duplicate => Kind::Duplicate,
        }
    }
}

/// How a system words its refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// As a gateway: a page.
    Html,
    /// As an API server: a Status.
    Kubernetes,
}

impl Speaks {
    fn refusal(self, status: u16) -> Option<String> {
        let reason = match status {
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            409 => "Conflict",
            422 => "Invalid",
            429 => "TooManyRequests",
            500 => "InternalError",
            503 => "ServiceUnavailable",
            // What API servers do not say themselves comes from a gateway.
            _ => return None,
        };
        let said = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
            "reason": reason, "message": "no", "details": {"name": "c-1"},
        });
        (self == Self::Kubernetes).then(|| said.to_string())
    }
}
