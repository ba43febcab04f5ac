//! What went wrong, whose fault it was, and whether trying again can help.
//!
//! Operators and clients see these three fields; `reason` is a stable code, `message` is for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest message that is kept; the rest of a huge error is cut.
pub const LONGEST_MESSAGE: usize = 2_000;

/// A failure as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The system at fault: `director`, `gardener`, `engine` …
    pub component: String,
    /// A stable code.
    pub reason: String,
    /// What happened, for people.
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

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hope {
    /// Another try may succeed.
    Retry,
    /// No further try can succeed.
    Final,
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
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_message_is_cut_at_a_character_boundary() {
        let failure = Failure::new("avs", "http", "ü".repeat(LONGEST_MESSAGE));

        assert!(failure.message.len() <= LONGEST_MESSAGE);
        assert!(failure.message.ends_with("(cut)"));
    }
}
