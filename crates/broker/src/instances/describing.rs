//! What an operation is doing, in one line: "step 7 of 17: waiting for the cluster, 12 min, usually 14–19 min".

use std::time::Duration;

use base::Failure;
use engine::{Explanation, State, explain::Standstill, storage::Snapshot};
use jiff::Timestamp;

use super::durations::Usual;

/// Platforms show no more than this many characters.
const LONGEST: usize = 255;

/// What an operation is doing, or how it ended.
pub(super) fn describe(
    operation: &Snapshot,
    explanation: &Explanation,
    usual: Option<Usual>,
    now: Timestamp,
) -> String {
    let said = match operation.state {
        State::Succeeded => "Processing finished".to_owned(),
        State::Failed | State::Canceled => {
            let failure = operation.failure.as_ref().map(told);
            let asked = operation.cancel.as_ref().map(|cancel| called_off(&cancel.reason));
            asked.or(failure).or_else(|| operation.note.clone()).unwrap_or_else(|| "failed".into())
        }
        State::Pending if operation.runs == 0 => match explanation.kind {
            Standstill::Queued => format!("Operation created: {}", explanation.reason),
            _ => "Operation created".to_owned(),
        },
        State::Pending | State::InProgress => doing(operation, explanation, usual, now),
    };
    shortened(&said)
}

/// The components whose words are for those who order. What other systems say names objects and addresses of the control plane, which
/// operators find in the operation's journal.
const OUTWARD: [&str; 5] = ["broker", "engine", "provisioner", "reconciler", "runtime"];

/// A failure, as those who order may read it.
fn told(failure: &Failure) -> String {
    if OUTWARD.contains(&&*failure.component) {
        return failure.message.clone();
    }
    let Failure { component, reason, .. } = failure;
    format!(
        "{component} did not do its part ({reason}); operators find the details in the operation's journal"
    )
}

/// Why an operation was called off, without the name of the operator who did it.
fn called_off(reason: &str) -> String {
    if reason.starts_with("called off by ") {
        return "called off by an operator".to_owned();
    }
    reason.to_owned()
}

fn doing(
    operation: &Snapshot,
    explanation: &Explanation,
    usual: Option<Usual>,
    now: Timestamp,
) -> String {
    let step = operation.step.as_deref().unwrap_or("the first step").replace('_', " ");
    let what = match explanation.kind {
        Standstill::Waiting | Standstill::Queued => explanation.reason.clone(),
        Standstill::Failing => {
            let whom = operation.failure.as_ref().map_or("a system", |failure| &failure.component);
            format!("{step} is tried again after an error of {whom}")
        }
        // A wait that is due, or looked after right now, is still the same wait.
        Standstill::Running | Standstill::Due | Standstill::Ended => {
            let note = operation.waiting_since.and(operation.note.clone());
            note.unwrap_or(step)
        }
    };
    let place = explanation.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let since = operation.waiting_since.or(operation.failing_since).or(explanation.since);
    let elapsed = since.and_then(|since| Duration::try_from(now.duration_since(since)).ok());
    let elapsed = elapsed.map(|elapsed| format!(", {}", span(elapsed))).unwrap_or_default();
    let usually = usual.map(|usual| format!(", usually {}", range(usual))).unwrap_or_default();
    format!("{place}{what}{elapsed}{usually}")
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The unit in which a time is told, and its word.
fn unit(time: Duration) -> (u64, &'static str) {
    match time.as_secs() {
        seconds if seconds < 2 * MINUTE => (1, "s"),
        seconds if seconds < 2 * HOUR => (MINUTE, "min"),
        _ => (HOUR, "h"),
    }
}

fn span(time: Duration) -> String {
    let (unit, word) = unit(time);
    format!("{} {word}", time.as_secs() / unit)
}

fn range(usual: Usual) -> String {
    let (unit, word) = unit(usual.longest);
    let (low, high) = (usual.shortest.as_secs() / unit, usual.longest.as_secs().div_ceil(unit));
    if low == high { format!("{low} {word}") } else { format!("{low}–{high} {word}") }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(minutes * MINUTE)
    }

    #[test]
    fn times_are_told_in_the_unit_that_suits_them() {
        assert_eq!(span(Duration::from_secs(119)), "119 s");
        assert_eq!(span(minutes(12)), "12 min");
        assert_eq!(span(minutes(300)), "5 h");
        assert_eq!(range(Usual { shortest: minutes(14), longest: minutes(19) }), "14–19 min");
        assert_eq!(range(Usual { shortest: minutes(3), longest: minutes(3) }), "3 min");
    }

    #[test]
    fn what_inner_systems_say_and_who_calls_off_is_not_told() {
        let failure = |component: &str| Failure::new(component, "Forbidden", "secrets \"kcp-1\"");

        let inner = told(&failure("gardener"));

        assert!(inner.starts_with("gardener did not do its part (Forbidden)"), "{inner}");
        assert!(!inner.contains("kcp-1"));
        assert_eq!(told(&failure("provisioner")), "secrets \"kcp-1\"");
        assert_eq!(called_off("called off by jo@example.test"), "called off by an operator");
        assert_eq!(
            called_off("operation preempted by deprovisioning 1"),
            "operation preempted by deprovisioning 1"
        );
    }

    #[test]
    fn nothing_is_longer_than_platforms_show() {
        let long = shortened(&"ä".repeat(400));

        assert_eq!((long.chars().count(), long.ends_with("ä…")), (LONGEST, true));
        assert_eq!(shortened("short"), "short");
    }
}
