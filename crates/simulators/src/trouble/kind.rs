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
    /// Nothing works: 503, or the connection is closed without a word.
    Down {
        /// Close the connection instead of answering.
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
        /// The status.
        status: u16,
        /// What the answer says; a page of a gateway if it is not given.
        #[serde(default)]
        body: Option<String>,
    },
    /// The connection is cut.
    Reset {
        /// How far the answer came.
        #[serde(default)]
        when: Cut,
    },
    /// Applied, but the caller does not learn of it.
    LostAnswer {
        /// What it is told instead; the connection is cut if nothing is.
        #[serde(default)]
        status: Option<u16>,
    },
    /// Applied and answered with success, in a body that makes no sense.
    Malformed {
        /// The body; half a JSON text if it is not given.
        #[serde(default)]
        body: Option<String>,
    },
    /// Applied and answered, but the body ends before its announced length.
    Truncated,
    /// Delivered twice; the first answer counts.
    Duplicate,
    /// Answered as if it were applied; nothing is.
    Phantom,
}

/// How far an answer comes before the connection is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// Nothing of it leaves, and nothing is applied.
    #[default]
    BeforeHeaders,
    /// It is applied; the headers leave, the body does not.
    AfterHeaders,
}

impl Kind {
    /// Its name, as the ledger shows it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Slow { .. } => "slow",
            Self::Down { .. } => "down",
            Self::Busy { .. } => "busy",
            Self::Status { .. } => "status",
            Self::Reset { .. } => "reset",
            Self::LostAnswer { .. } => "lost-answer",
            Self::Malformed { .. } => "malformed",
            Self::Truncated => "truncated",
            Self::Duplicate => "duplicate",
            Self::Phantom => "phantom",
        }
    }
}
