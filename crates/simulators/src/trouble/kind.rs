//! The ways in which a system can misbehave.

use serde::{Deserialize, Serialize};

/// One way to misbehave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kind {
    /// Everything works, later.
    Slow {
        /// How much later.
        delay_ms: u64,
    },
    /// Everything works, some time later.
    Uneven {
        /// How much later at least.
        from_ms: u64,
        /// How much later at most.
        to_ms: u64,
    },
    /// The call is taken and never answered; nothing is applied.
    Silent,
    /// Nothing works: 503, or the connection is reset without a word.
    Down {
        /// Reset the connection instead of answering. The port is shared by all systems, so it is
        /// accepted first: callers see a reset, not a refusal.
        #[serde(default)]
        refuse: bool,
    },
    /// Too many requests: 429 with `Retry-After`.
    Busy {
        /// When to come back.
        retry_after_seconds: u64,
        /// Say it as a date instead of as a number.
        #[serde(default)]
        as_date: bool,
    },
    /// An error status; nothing is applied.
    Status {
        status: u16,
        /// The body of the response; a gateway's page by default.
        #[serde(default)]
        body: Option<String>,
    },
    /// The connection is reset.
    Reset {
        /// How far the answer came.
        #[serde(default)]
        when: Cut,
    },
    /// Applied, but the caller does not learn of it.
    LostAnswer {
        /// The status of the response; without one the connection is cut.
        #[serde(default)]
        status: Option<u16>,
    },
    /// Applied and answered with success, in a body that makes no sense.
    Malformed {
        /// The body; half a JSON text if it is not given.
        #[serde(default)]
        body: Option<String>,
    },
    /// Applied and answered with success, under a wrong media type.
    Mistyped {
        /// The media type.
        media: String,
    },
    /// Applied and answered, but the body ends before its announced length.
    Truncated,
    /// Delivered twice; the first answer counts.
    Duplicate,
    /// Answered as if it were applied; nothing is.
    Phantom,
    /// Only the first changes of one call are made; then it fails.
    Partial {
        /// How many changes are made.
        changes: u64,
        /// The status of the response; 500 by default.
        #[serde(default)]
        status: Option<u16>,
    },
    /// Reads answer what they answered so long ago: the newest answer that is at least as old, else
    /// the oldest that is kept. A read that was never made before is answered as it is.
    StaleRead {
        /// How long ago.
        seconds: u64,
    },
    /// Every token ends right before the call is looked at.
    TokenExpire,
    /// No token is required: the call is handled as if it had a good one.
    Unguarded,
}

/// How far an answer comes before the connection is reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// Nothing of it leaves, and nothing is applied.
    #[default]
    BeforeHeaders,
    /// It is applied; the headers leave, the body does not.
    AfterHeaders,
    /// It is applied; the headers and half of the body leave.
    InBody,
    /// It is applied and answered; then the connection is reset.
    AfterBody,
}

impl Kind {
    /// How many changes a call that meets it may make.
    pub(super) fn changes(&self) -> u64 {
        match self {
            Self::Phantom => 0,
            Self::Partial { changes, .. } => *changes,
            _ => u64::MAX,
        }
    }

    /// The status that callers get, if it is one of trouble.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            Self::LostAnswer { status } | Self::Partial { status, .. } => *status,
            _ => None,
        }
    }

    /// Its name, as the ledger shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Slow { .. } => "slow",
            Self::Uneven { .. } => "uneven",
            Self::Silent => "silent",
            Self::Down { .. } => "down",
            Self::Busy { .. } => "busy",
            Self::Status { .. } => "status",
            Self::Reset { .. } => "reset",
            Self::LostAnswer { .. } => "lost-answer",
            Self::Malformed { .. } => "malformed",
            Self::Mistyped { .. } => "mistyped",
            Self::Truncated => "truncated",
            Self::Duplicate => "duplicate",
            Self::Phantom => "phantom",
            Self::Partial { .. } => "partial",
            Self::StaleRead { .. } => "stale-read",
            Self::TokenExpire => "token-expire",
            Self::Unguarded => "unguarded",
        }
    }
}
