//! States, each as a word, a shape and a colour.

use broker::operations::view::{Snapshot, State};
use maud::{Markup, PreEscaped, html};

/// The colour of a state, and its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Slow,
    Bad,
    Busy,
    Calm,
    /// Called off: it looks like nothing that is still to come.
    Off,
}

impl Tone {
    /// The class in the stylesheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Slow => "slow",
            Self::Bad => "bad",
            Self::Busy => "busy",
            Self::Calm | Self::Off => "calm",
        }
    }

    /// Its shape: a tick, a clock, a cross, an open circle, a dash, a crossed circle.
    pub(crate) fn shape(self) -> Markup {
        let inner = match self {
            Self::Good => r#"<path d="M2.2 6.4 5 9.2 9.8 3.2" stroke-width="2"/>"#,
            Self::Slow => {
                r#"<circle cx="6" cy="6" r="4.8" stroke-width="1.5"/><path d="M6 3.4V6l1.8 1.3" stroke-width="1.5"/>"#
            }
            Self::Bad => r#"<path d="m3 3 6 6M9 3 3 9" stroke-width="2"/>"#,
            Self::Busy => {
                r#"<circle cx="6" cy="6" r="4.4" stroke-width="2" stroke-dasharray="19 9"/>"#
            }
            Self::Calm => r#"<path d="M2.8 6h6.4" stroke-width="2"/>"#,
            Self::Off => {
                r#"<circle cx="6" cy="6" r="4.6" stroke-width="1.5"/><path d="m2.9 9.1 6.2-6.2" stroke-width="1.5"/>"#
            }
        };
        icon(inner)
    }
}

fn icon(inner: &str) -> Markup {
    PreEscaped(format!(
        r#"<svg width="12" height="12" viewBox="0 0 12 12" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{inner}</svg>"#
    ))
}

/// A state in one word.
pub(crate) fn pill(tone: Tone, word: &str) -> Markup {
    html! { span.pill.(tone.class()) { (tone.shape()) (word) } }
}

/// A word that is no state, with a flag.
pub(crate) fn flag(word: &str) -> Markup {
    html! { span.pill.calm { (icon(r#"<path d="M3 11V1.6h6L7.4 4.2 9 6.8H3" stroke-width="1.5"/>"#)) (word) } }
}

/// A sentence about what was done, or what is wrong.
pub(crate) fn message(tone: Tone, text: &str) -> Markup {
    let role = if tone == Tone::Bad { "alert" } else { "status" };
    html! { div.said.(tone.class()) role=(role) { (tone.shape()) p { (text) } } }
}

/// How an operation stands.
pub(crate) fn standing(operation: &Snapshot) -> (Tone, &'static str) {
    match operation.state {
        State::Succeeded => (Tone::Good, "succeeded"),
        State::Failed => (Tone::Bad, "failed"),
        State::Canceled => (Tone::Off, "canceled"),
        State::Pending | State::InProgress if operation.cancel.is_some() => (Tone::Slow, "ending"),
        State::Pending | State::InProgress if operation.due_at.is_none() => (Tone::Calm, "queued"),
        State::Pending | State::InProgress if operation.failing_since.is_some() => {
            (Tone::Bad, "retrying")
        }
        State::Pending | State::InProgress if operation.waiting_since.is_some() => {
            (Tone::Slow, "waiting")
        }
        State::Pending | State::InProgress => (Tone::Busy, "running"),
    }
}

/// How an orchestration stands, from the word of the API.
pub(crate) fn orchestration(word: &str, paused: bool) -> (Tone, &str) {
    match word {
        "succeeded" => (Tone::Good, "succeeded"),
        "failed" => (Tone::Bad, "failed"),
        "canceled" => (Tone::Off, "canceled"),
        _ if paused => (Tone::Slow, "paused"),
        "pending" => (Tone::Calm, "pending"),
        "canceling" => (Tone::Slow, "canceling"),
        other => (Tone::Busy, other),
    }
}

/// How the upgrade of one runtime stands, from the word of the API.
pub(crate) fn member(word: &str) -> (Tone, &str) {
    match word {
        "succeeded" => (Tone::Good, "succeeded"),
        "failed" => (Tone::Bad, "failed"),
        "in progress" => (Tone::Busy, "in progress"),
        "canceled" => (Tone::Off, "canceled"),
        other => (Tone::Calm, other),
    }
}

/// How a runtime stands, from the word of the API.
pub(crate) fn runtime(word: &str) -> (Tone, &str) {
    match word {
        "succeeded" => (Tone::Good, "ready"),
        "failed" => (Tone::Bad, "failed"),
        "error" => (Tone::Bad, "change failed"),
        "suspended" => (Tone::Calm, "suspended"),
        "deprovisioned" => (Tone::Calm, "removed"),
        "deprovisionincomplete" => (Tone::Slow, "removed, with leftovers"),
        other => (Tone::Busy, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_canceled_looks_like_nothing_that_is_still_to_come() {
        for (canceled, pending) in [
            (orchestration("canceled", false), orchestration("pending", false)),
            (member("canceled"), member("pending")),
        ] {
            let shape = |tone: Tone| tone.shape().into_string();
            assert_ne!(shape(canceled.0), shape(pending.0));
            assert_ne!(canceled.1, pending.1);
        }
    }
}
