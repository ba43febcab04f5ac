//! Which system did not do what it was asked, what kind of failure that is, what we were doing.
//!
//! Failures are classified here, once; callers match on [`Kind`] and never on text.

use std::{fmt, time::Duration};

use base::failure::{Failure, Hope, StepError, chain};
use reqwest::StatusCode;

/// An outside system, by the name that operators know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Component(pub &'static str);

impl Component {
    /// Our own broker, called by the command line.
    pub const BROKER: Self = Self("broker");
    /// Whoever issues tokens.
    pub const ISSUER: Self = Self("issuer");
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// What the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It cannot be reached, or is not well: try again.
    Unavailable,
    /// It was asked too often: try again later.
    Throttled {
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The request may have been applied, its answer is gone: look, then try again.
    AnswerLost,
    /// The operation is not held here any more: stop.
    NotHeld,
    /// It does not know who we are, or does not let us: check the credentials.
    Unauthorized,
    /// It does not have the thing.
    NotFound,
    /// The thing is in the way, or was changed meanwhile.
    Conflict,
    /// It does not do what was asked, and will not.
    Refused {
        /// The status it answered with.
        status: u16,
    },
    /// Its answer cannot be understood.
    Malformed,
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
            StatusCode::REQUEST_TIMEOUT => Self::Unavailable,
            status if status.is_server_error() => Self::Unavailable,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Self::Unauthorized,
            StatusCode::NOT_FOUND | StatusCode::GONE => Self::NotFound,
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Self::Conflict,
            status => Self::Refused { status: status.as_u16() },
        })
    }

    /// Whether trying again can help.
    pub fn hope(self) -> Hope {
        match self {
            Self::Unavailable
            | Self::Throttled { .. }
            | Self::AnswerLost
            | Self::NotHeld
            // Credentials are renewed, and malformed answers often come from a proxy in between.
            | Self::Unauthorized
            | Self::Malformed => Hope::Retry,
            Self::NotFound | Self::Conflict | Self::Refused { .. } => Hope::Final,
        }
    }

    /// A stable code for operators.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Throttled { .. } => "throttled",
            Self::AnswerLost => "answer_lost",
            Self::NotHeld => "not_held",
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Refused { .. } => "refused",
            Self::Malformed => "malformed",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable => f.write_str("is not available"),
            Self::Throttled { retry_after: Some(wait) } => {
                write!(f, "asks to wait {} s", wait.as_secs())
            }
            Self::Throttled { retry_after: None } => f.write_str("asks to wait"),
            Self::AnswerLost => f.write_str("did not get its answer through"),
            Self::NotHeld => f.write_str("was not called: the operation is not held here any more"),
            Self::Unauthorized => f.write_str("does not accept our credentials"),
            Self::NotFound => f.write_str("does not have it"),
            Self::Conflict => f.write_str("has something in the way"),
            Self::Refused { status } => write!(f, "refused with status {status}"),
            Self::Malformed => f.write_str("answered something that cannot be understood"),
        }
    }
}

/// A call that did not do what it was asked to do.
#[derive(Debug, thiserror::Error)]
#[error("{component} {kind} while {doing}{}", detail(said.as_deref()))]
pub struct Error {
    /// The system that was called.
    pub component: Component,
    /// What the caller can do about it.
    pub kind: Kind,
    /// What was being tried, as a phrase: "deregistering runtime 8f21".
    pub doing: String,
    /// The description the other side gave, if it gave one.
    pub said: Option<String>,
    /// What lies below.
    #[source]
    pub source: Option<reqwest::Error>,
}

fn detail(said: Option<&str>) -> String {
    said.map(|said| format!(" ({said})")).unwrap_or_default()
}

impl Error {
    /// A failure with nothing below it.
    pub fn new(component: Component, kind: Kind, doing: &str) -> Self {
        Self { component, kind, doing: doing.into(), said: None, source: None }
    }

    /// A failure below HTTP. The address is left out of it: it may carry secrets.
    pub fn transport(component: Component, doing: &str, source: reqwest::Error) -> Self {
        let kind = if source.is_decode() { Kind::Malformed } else { Kind::Unavailable };
        Self { source: Some(source.without_url()), ..Self::new(component, kind, doing) }
    }

    /// As it is stored with an operation.
    pub fn failure(&self) -> Failure {
        Failure::new(self.component.0, self.kind.code(), chain(self))
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        match (error.kind, error.kind.hope()) {
            (Kind::NotHeld, _) => Self::NotHeld,
            (Kind::Throttled { retry_after: Some(after) }, _) => {
                Self::transient_after(error.failure(), after)
            }
            (_, Hope::Retry) => Self::transient(error.failure()),
            (_, Hope::Final) => Self::fatal(error.failure()),
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
            (401, None, Some(Kind::Unauthorized)),
            (404, None, Some(Kind::NotFound)),
            (410, None, Some(Kind::NotFound)),
            (409, None, Some(Kind::Conflict)),
            (422, None, Some(Kind::Refused { status: 422 })),
            (302, None, Some(Kind::Refused { status: 302 })),
        ];

        for (status, retry_after, kind) in table {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(Kind::of_status(status, retry_after), kind, "{status}");
        }
    }

    #[test]
    fn an_error_reads_as_a_sentence() {
        let error = Error::new(Component("edp"), Kind::NotFound, "looking for tenant 8f21");

        assert_eq!(error.to_string(), "edp does not have it while looking for tenant 8f21");
    }
}
