//! The description of an operation in one line: "step 7 of 17: waiting for the cluster, 12 min, usually 14–19 min".

use std::time::Duration;

use engine::{Explanation, State, explain::Standstill, storage::Snapshot};
use jiff::Timestamp;

use super::{
    durations::UsualDuration,
    failures::{self, Reader},
};
use crate::{following::percentage, import::ImportNote};

/// Platforms show no more than this many characters.
const LONGEST: usize = 255;

/// The reader of a description, and the facts besides the operation.
pub(super) struct DescriptionContext<'a> {
    pub(super) reader: Reader,
    /// The original's description, if the operation came from there.
    pub(super) imported: Option<&'a ImportNote>,
    pub(super) explanation: &'a Explanation,
    /// How long the whole operation may take.
    pub(super) limit: Option<Duration>,
    /// How long the step usually takes.
    pub(super) usual: Option<UsualDuration>,
    pub(super) now: Timestamp,
}

/// A description of the operation's progress or end.
pub(super) fn describe(operation: &Snapshot, context: &DescriptionContext<'_>) -> String {
    let DescriptionContext { explanation, reader, .. } = context;
    // One that continues an operation of the original has its input, and an end of its own.
    let imported = context.imported.filter(|_| operation.root == operation.id);
    let said = match operation.state {
        _ if imported.is_some() => {
            let said = imported.map(|imported| imported.description.clone()).unwrap_or_default();
            failures::imported(operation, said, *reader)
        }
        State::Succeeded => "Processing finished".to_owned(),
        State::Failed | State::Canceled => {
            failures::failure_text(operation, context.limit.map(clock).as_deref(), *reader)
        }
        State::Pending if operation.runs == 0 => match explanation.kind {
            Standstill::Queued => format!("Operation created: {}", explanation.reason),
            _ => "Operation created".to_owned(),
        },
        State::Pending | State::InProgress => doing(operation, context),
    };
    match reader {
        Reader::Customer => shortened(&said),
        Reader::Operator => said,
    }
}

fn doing(operation: &Snapshot, context: &DescriptionContext<'_>) -> String {
    let DescriptionContext { explanation, usual, now, reader, .. } = context;
    let step = operation.step.as_deref().unwrap_or("the first step").replace('_', " ");
    let what = match explanation.kind {
        Standstill::Waiting | Standstill::Queued => awaited(&explanation.reason, *reader),
        Standstill::Failing => {
            let whom = operation.failure.as_ref().map_or("a system", |failure| &failure.component);
            format!("{step} is tried again after an error of {whom}")
        }
        // A wait that is due, or looked after right now, is still the same wait.
        Standstill::Running | Standstill::Due | Standstill::Ended => {
            let note = operation.waiting_since.and(operation.note.as_deref());
            note.map_or(step, |note| awaited(note, *reader))
        }
    };
    let place = explanation.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let since = operation.waiting_since.or(operation.failing_since).or(explanation.since);
    let elapsed = since.and_then(|since| Duration::try_from(now.duration_since(since)).ok());
    let elapsed = elapsed.map(|elapsed| format!(", {}", span(elapsed))).unwrap_or_default();
    let usually = usual.map(|usual| format!(", usually {}", range(usual))).unwrap_or_default();
    format!("{place}{what}{elapsed}{usually}")
}

/// What is waited for. Behind a colon stands what another system says about it, with names of objects that are not for customers who
/// order; how far it is, in percent, is.
fn awaited(reason: &str, reader: Reader) -> String {
    if reader == Reader::Operator {
        return reason.to_owned();
    }
    match reason.split_once(": ") {
        Some((outer, said)) => match percentage(said) {
            Some(percentage) => format!("{outer}: {percentage}"),
            None => outer.to_owned(),
        },
        None => reason.to_owned(),
    }
}

/// A time in the form that platforms know: `24h0m0s`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / HOUR, seconds % HOUR / MINUTE);
    format!("{hours}h{minutes}m{}s", seconds % MINUTE)
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The unit in which a time is written, and its word.
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

fn range(usual: UsualDuration) -> String {
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
        assert_eq!(
            range(UsualDuration { shortest: minutes(14), longest: minutes(19) }),
            "14–19 min"
        );
        assert_eq!(range(UsualDuration { shortest: minutes(3), longest: minutes(3) }), "3 min");
    }

    #[test]
    fn a_limit_is_told_as_platforms_know_it() {
        assert_eq!(clock(minutes(24 * 60)), "24h0m0s");
        assert_eq!(clock(Duration::from_secs(3_725)), "1h2m5s");
    }

    #[test]
    fn what_another_system_says_is_told_to_operators_alone() {
        let reason = "the cluster is being made: Shoot c-1 of garden-x";

        assert_eq!(awaited(reason, Reader::Customer), "the cluster is being made");
        assert_eq!(awaited(reason, Reader::Operator), reason);
        assert_eq!(
            awaited("the Reconciler installs Kyma", Reader::Customer),
            "the Reconciler installs Kyma"
        );
    }

    #[test]
    fn nothing_is_longer_than_platforms_show() {
        let long = shortened(&"ä".repeat(400));

        assert_eq!((long.chars().count(), long.ends_with("ä…")), (LONGEST, true));
        assert_eq!(shortened("short"), "short");
    }
}
