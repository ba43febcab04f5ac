//! A failed call of an outside system: which system, what was tried, what kind of failure.
//!
//! Failures are classified here, once; callers match on [`Kind`] and never on text.

use std::{fmt, sync::Arc, time::Duration};

use base::failure::{Failure, StepError, chain};
use reqwest::{Method, StatusCode};

/// An outside system, by the name that operators know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Component(pub &'static str);

impl Component {
    /// Our own broker, called by the command line.
    pub const BROKER: Self = Self("broker");
    /// The token issuer.
    pub const ISSUER: Self = Self("issuer");
    /// The registry of runtimes and applications.
    pub const DIRECTOR: Self = Self("director");
    /// Gardener.
    pub const GARDENER: Self = Self("gardener");
    /// A cluster that was made.
    pub const RUNTIME: Self = Self("runtime");
    /// The provisioner.
    pub const PROVISIONER: Self = Self("provisioner");
    /// The cluster that the control plane itself lives in.
    pub const CONTROL_PLANE: Self = Self("control plane");
    /// Where releases of Kyma are kept.
    pub const RELEASES: Self = Self("kyma releases");
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// The kind of failure: what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It cannot be reached or fails: try again.
    Unavailable,
    /// It was asked too often: try again later.
    Throttled {
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// It was not called because its last calls failed: try again later.
    Paused {
        /// How long until the next call may go through.
        retry_after: Duration,
    },
    /// The request may have been applied, its answer is gone: look, then try again.
    AnswerLost,
    /// The operation is not held here any more: stop.
    NotHeld,
    /// It does not know who we are, or does not let us: check the credentials.
    Unauthorized,
    /// It does not have the thing.
    NotFound,
    /// The thing is there already.
    AlreadyExists,
    /// Modified concurrently: read it again, then try again.
    Changed,
    /// Something is in the way.
    Conflict,
    /// It is at work on the thing already: wait until it is done, then try again.
    Busy,
    /// It refuses the request for good.
    Refused {
        /// The status it answered with.
        status: u16,
    },
    /// Its answer cannot be understood.
    Malformed,
    /// It did it, but left out something that it was sent.
    Dropped,
}

impl Kind {
    /// The kind of failure behind a status; `None` when it is none.
    pub fn of_status(status: StatusCode, retry_after: Option<Duration>) -> Option<Self> {
        if status.is_success() {
            return None;
        }
        Some(match status {
            StatusCode::TOO_MANY_REQUESTS => Self::Throttled { retry_after },
            StatusCode::SERVICE_UNAVAILABLE if retry_after.is_some() => {
                Self::Throttled { retry_after }
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY => Self::Unavailable,
            status if status.is_server_error() => Self::Unavailable,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Self::Unauthorized,
            StatusCode::NOT_FOUND | StatusCode::GONE => Self::NotFound,
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Self::Conflict,
            status => Self::Refused { status: status.as_u16() },
        })
    }

    /// Whether trying again can help.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::Unavailable
            | Self::Throttled { .. }
            | Self::Paused { .. }
            | Self::AnswerLost
            | Self::Changed
            | Self::Busy
            | Self::NotHeld
            // Credentials are renewed, and malformed answers often come from a proxy in between.
            | Self::Unauthorized
            | Self::Malformed => true,
            Self::NotFound
            | Self::AlreadyExists
            | Self::Conflict
            | Self::Refused { .. }
            | Self::Dropped => false,
        }
    }

    /// A stable code for operators.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Throttled { .. } => "throttled",
            Self::Paused { .. } => "paused",
            Self::AnswerLost => "answer_lost",
            Self::NotHeld => "not_held",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::Changed => "changed",
            Self::Conflict => "conflict",
            Self::Busy => "busy",
            Self::Refused { .. } => "refused",
            Self::Malformed => "malformed",
            Self::Dropped => "dropped",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable => f.write_str("unavailable"),
            Self::Throttled { retry_after: Some(wait) } => {
                write!(f, "throttled, retry after {} s", wait.as_secs())
            }
            Self::Throttled { retry_after: None } => f.write_str("throttled"),
            Self::Paused { .. } => f.write_str("not called, its last calls failed"),
            Self::AnswerLost => f.write_str("response lost"),
            Self::NotHeld => f.write_str("not called, another replica owns the operation"),
            Self::Unauthorized => f.write_str("credentials not accepted"),
            Self::NotFound => f.write_str("not found"),
            Self::AlreadyExists => f.write_str("already exists"),
            Self::Changed => f.write_str("conflict, modified concurrently"),
            Self::Conflict => f.write_str("conflict"),
            Self::Busy => f.write_str("busy with another operation"),
            Self::Refused { status } => write!(f, "refused with status {status}"),
            Self::Malformed => f.write_str("invalid response"),
            Self::Dropped => f.write_str("fields not stored"),
        }
    }
}

/// A failed call.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{component}: {doing}: {kind}{}", detail(said.as_deref()))]
pub struct Error {
    /// The system that was called.
    pub component: Component,
    /// The kind of failure: what the caller can do about it.
    pub kind: Kind,
    /// The attempted action, as a phrase: "deregistering runtime 8f21".
    pub doing: Box<str>,
    /// The status of the refusal, if there was an answer: 401 and 403 are one kind.
    pub status: Option<u16>,
    /// The description the other side gave, if it gave one.
    pub said: Option<String>,
    /// The other side's own code for it, if it gave one: `AlreadyExists`, `TenantNotFound` …
    pub reason: Option<Box<str>>,
    /// The cause.
    #[source]
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

fn detail(said: Option<&str>) -> String {
    said.map(|said| format!(" ({said})")).unwrap_or_default()
}

impl Error {
    /// A failure with nothing below it.
    pub fn new(component: Component, kind: Kind, doing: &str) -> Self {
        let doing = doing.into();
        Self { component, kind, doing, status: None, said: None, reason: None, source: None }
    }

    /// The same failure with what the other side said about it.
    #[must_use]
    pub fn saying(mut self, said: impl Into<String>) -> Self {
        self.said = Some(base::failure::shortened(said.into()));
        self
    }

    /// The same failure under the other side's own code.
    #[must_use]
    pub fn because(mut self, reason: impl Into<Box<str>>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// A failure below HTTP. The address is left out of it: it may carry secrets.
    pub fn transport(
        component: Component,
        doing: &str,
        method: &Method,
        source: reqwest::Error,
    ) -> Self {
        let kind = if source.is_builder() {
            Kind::Refused { status: 400 }
        } else {
            without_answer(method, source.is_connect())
        };
        Self::below(component, kind, doing, source.without_url())
    }

    /// A failure with another error below it.
    pub(crate) fn below(
        component: Component,
        kind: Kind,
        doing: &str,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self { source: Some(Arc::new(source)), ..Self::new(component, kind, doing) }
    }

    /// As it is stored with an operation.
    pub fn failure(&self) -> Failure {
        let reason = self.reason.as_deref().unwrap_or_else(|| self.kind.code());
        Failure::new(self.component.0, reason, chain(self))
    }
}

/// The kind for a lost response: a change may have been applied, unless nothing was sent.
pub(crate) fn without_answer(method: &Method, never_connected: bool) -> Kind {
    let harmless = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if never_connected || harmless { Kind::Unavailable } else { Kind::AnswerLost }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        match (error.kind, error.kind.is_retryable()) {
            (Kind::NotHeld, _) => Self::NotHeld,
            (
                Kind::Throttled { retry_after: Some(after) } | Kind::Paused { retry_after: after },
                _,
            ) => Self::transient_after(error.failure(), after),
            (_, true) => Self::transient(error.failure()),
            (_, false) => Self::fatal(error.failure()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_the_engine_what_to_do() {
        let of = |kind| StepError::from(Error::new(Component("edp"), kind, "registering a tenant"));
        let after = Duration::from_secs(7);

        assert!(matches!(of(Kind::Unavailable), StepError::Transient { retry_after: None, .. }));
        assert!(matches!(
            of(Kind::Throttled { retry_after: Some(after) }),
            StepError::Transient { retry_after: Some(wait), .. } if wait == after
        ));
        assert!(matches!(
            of(Kind::Paused { retry_after: after }),
            StepError::Transient { retry_after: Some(wait), .. } if wait == after
        ));
        assert!(matches!(of(Kind::Refused { status: 400 }), StepError::Fatal(_)));
        assert_eq!(of(Kind::NotHeld), StepError::NotHeld);
    }

    #[test]
    fn a_status_says_what_the_caller_can_do() {
        let wait = Some(Duration::from_secs(7));
        let table = [
            (200, None, None),
            (429, wait, Some(Kind::Throttled { retry_after: wait })),
            (503, wait, Some(Kind::Throttled { retry_after: wait })),
            (503, None, Some(Kind::Unavailable)),
            (500, None, Some(Kind::Unavailable)),
            (408, None, Some(Kind::Unavailable)),
            (425, None, Some(Kind::Unavailable)),
            (401, None, Some(Kind::Unauthorized)),
            (404, None, Some(Kind::NotFound)),
            (410, None, Some(Kind::NotFound)),
            (409, None, Some(Kind::Conflict)),
            (412, None, Some(Kind::Conflict)),
            (422, None, Some(Kind::Refused { status: 422 })),
            (302, None, Some(Kind::Refused { status: 302 })),
        ];

        for (status, retry_after, kind) in table {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(Kind::of_status(status, retry_after), kind, "{status}");
        }
    }

    #[test]
    fn an_error_names_component_task_and_kind() {
        let error = Error::new(Component("edp"), Kind::NotFound, "looking for tenant 8f21");

        assert_eq!(error.to_string(), "edp: looking for tenant 8f21: not found");
    }
}
