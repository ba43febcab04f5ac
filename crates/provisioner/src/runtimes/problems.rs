//! The errors of an operation, from its journal, in the words of the API.

use base::Failure;
use engine::{
    State,
    storage::{Entry, Outcome, Snapshot},
};

use crate::{
    error::{COMPONENT, INTERNAL},
    status::LastError,
};

/// How many errors are listed at most: the newest ones.
const MOST: usize = 100;
/// The text that clients of the reference know.
const TIME_IS_UP: &str = "error: timeout while processing operation";
/// The reason of a call that was not made because the ones before it failed: those say what failed.
const PAUSED: &str = "paused";

/// The errors of an operation.
pub(super) struct Problems<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// Oldest first; empty when it was trimmed.
    pub(super) journal: &'a [Entry],
}

impl Problems<'_> {
    /// The last error, if it still counts.
    pub(super) fn last(&self) -> Option<LastError> {
        let failure = self.snapshot.failure.as_ref()?;
        if failure.reason != PAUSED {
            return Some(self.last_error(failure));
        }
        let failures = self.journal.iter().rev().filter_map(|entry| entry.failure.as_ref());
        let cause = failures.into_iter().find(|other| other.reason != PAUSED);
        let Some(cause) = cause.map(|cause| self.last_error(cause)) else {
            return Some(self.last_error(failure));
        };
        let message = if self.snapshot.state.is_final() {
            format!("{}; what failed before: {}", failure.message, cause.message)
        } else {
            cause.message
        };
        Some(LastError { message, ..cause })
    }

    /// Everything that went wrong, the newest last; what went wrong in the same way several times in a row is listed
    /// once.
    pub(super) fn all(&self, last: Option<&LastError>) -> Vec<String> {
        let failures = self.journal.iter().filter_map(|entry| entry.failure.as_ref());
        let failures = failures.filter(|failure| failure.reason != PAUSED);
        let mut texts: Vec<String> =
            failures.map(|failure| self.last_error(failure).message).collect();
        if let Some(last) = last.filter(|last| texts.last() != Some(&last.message)) {
            texts.push(last.message.clone());
        }
        texts.dedup();
        let surplus = texts.len().saturating_sub(MOST);
        texts.drain(..surplus);
        texts
    }

    /// How an operation ended that failed or was called off.
    pub(super) fn end(&self, last: Option<&LastError>) -> String {
        let note = self.snapshot.note.as_deref().map(|note| match self.snapshot.state {
            State::Canceled => by_an_operator(note, "called off by "),
            _ => note.to_owned(),
        });
        let text = last.map(|last| last.message.clone()).or(note);
        text.unwrap_or_else(|| "the operation was ended".into())
    }

    /// The engine's own failures are the provisioner's to its clients.
    fn last_error(&self, failure: &Failure) -> LastError {
        let message = failure.message.as_str();
        let (message, reason, component) =
            match (failure.component.as_str(), failure.reason.as_str()) {
                ("engine", "time_limit" | "waiting_limit") => {
                    (self.time_is_up(message), "err_provisioner_timeout", COMPONENT)
                }
                ("engine", "abandoned") => {
                    (by_an_operator(message, "abandoned by "), INTERNAL, COMPONENT)
                }
                ("engine", "skipped") => {
                    (by_an_operator(message, "asked for by "), INTERNAL, COMPONENT)
                }
                ("engine", _) => (message.to_owned(), INTERNAL, COMPONENT),
                (component, reason) => (message.to_owned(), reason, component),
            };
        LastError { message, reason: reason.into(), component: component.into() }
    }

    /// The text about an exceeded limit, with the awaited condition.
    fn time_is_up(&self, whose: &str) -> String {
        let waits = self.journal.iter().rev().filter(|entry| entry.outcome == Some(Outcome::Wait));
        let reason = waits.filter_map(|entry| entry.reason.as_deref()).find(|why| *why != whose);
        match reason {
            Some(reason) => format!("{TIME_IS_UP}: {whose}; at last: {reason}"),
            None => format!("{TIME_IS_UP}: {whose}"),
        }
    }
}

/// What an operator did, without the name and the reason that stand behind `verb`: those are for operators.
fn by_an_operator(text: &str, verb: &str) -> String {
    match text.split_once(verb) {
        Some((before, _)) => format!("{before}{verb}an operator"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests;
