//! A failure: its component, its reason, and whether a retry can help.
//!
//! Operators and clients see the three fields of a [`Failure`]; `reason` is a stable code, `message` is
//! for people. [`StepError`] stands here and not in the engine so that clients, which do not know the
//! engine, can turn their errors into it.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::caller::CallInterruption;

/// The longest message that is kept; the rest of a huge error is cut.
pub const LONGEST_MESSAGE: usize = 2_000;

/// A failure as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The system at fault: `director`, `gardener`, `engine` …
    pub component: String,
    /// A stable code.
    pub reason: String,
    /// A message for people.
    pub message: String,
}

impl Failure {
    /// A failure with its message cut to a length that can be stored.
    pub fn new(
        component: impl Into<String>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            component: component.into(),
            reason: reason.into(),
            message: shortened(message.into()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}: {})", self.message, self.component, self.reason)
    }
}

/// Why a run of a step failed: what the engine does about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// Another run may succeed.
    #[error("{failure}")]
    Transient {
        /// What went wrong.
        failure: Failure,
        /// The `Retry-After` of the response.
        retry_after: Option<Duration>,
    },
    /// No further run can succeed.
    #[error("{0}")]
    Fatal(Failure),
    /// This replica does not hold the operation any more: the run is dropped without a trace.
    #[error("the operation is not held here any more")]
    NotHeld,
}

impl StepError {
    /// Another run may succeed.
    pub fn transient(failure: Failure) -> Self {
        Self::Transient { failure, retry_after: None }
    }

    /// No further run can succeed.
    pub fn fatal(failure: Failure) -> Self {
        Self::Fatal(failure)
    }

    /// Another run may succeed, not before `retry_after`.
    pub fn transient_after(failure: Failure, retry_after: Duration) -> Self {
        Self::Transient { failure, retry_after: Some(retry_after) }
    }

    /// A failure of this program itself, from any error: tried again.
    pub fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        Self::transient(Failure::new("engine", "internal", chain(error)))
    }
}

impl From<CallInterruption> for StepError {
    fn from(interrupted: CallInterruption) -> Self {
        match interrupted {
            CallInterruption::NotHeld => Self::NotHeld,
            CallInterruption::AnswerLost => {
                Self::transient(Failure::new("network", "answer_lost", interrupted.to_string()))
            }
        }
    }
}

/// Cuts a text to [`LONGEST_MESSAGE`] bytes at a character boundary and says that it did.
pub fn shortened(text: String) -> String {
    if text.len() <= LONGEST_MESSAGE {
        return text;
    }
    let mark = " … (cut)";
    let mut end = LONGEST_MESSAGE - mark.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{mark}", &text[..end])
}

/// An error and everything below it in one line, for the place where it stops.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        // Some errors say their cause themselves.
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_is_told_already_is_not_told_again() {
        #[derive(Debug, thiserror::Error)]
        #[error("the file cannot be read: {0}")]
        struct Telling(#[source] std::io::Error);
        #[derive(Debug, thiserror::Error)]
        #[error("no settings")]
        struct Silent(#[source] Telling);

        let error = Silent(Telling(std::io::Error::other("the disk is gone")));

        assert_eq!(chain(&error), "no settings: the file cannot be read: the disk is gone");
    }

    #[test]
    fn a_huge_message_is_cut_at_a_character_boundary() {
        let failure = Failure::new("avs", "http", "ü".repeat(LONGEST_MESSAGE));

        assert!(failure.message.len() <= LONGEST_MESSAGE);
        assert!(failure.message.ends_with("(cut)"));
    }
}
