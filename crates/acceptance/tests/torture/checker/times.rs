//! P11: a limit fires when it should, whichever replica was killed meanwhile.

use engine::storage::{EntryEvent, Outcome};
use jiff::{SignedDuration, Timestamp};
use kcp_acceptance::torture::plans::STUCK_FOR;

use super::{Case, TOLERANCE, Verdict};

/// How late a limit may fire while the database is there.
const LATE: SignedDuration = SignedDuration::from_secs(5);
/// How long the operation of a replica that died may stand still, as P10 says: the lease and 2 s.
const PER_TAKEOVER: SignedDuration = SignedDuration::from_secs(3);

pub(super) fn check(case: &Case<'_>, outages: &[(Timestamp, Timestamp)], verdict: &mut Verdict) {
    let of = |outcome| {
        case.journal.iter().find(move |entry| {
            entry.step.as_deref() == Some("Stuck") && entry.outcome == Some(outcome)
        })
    };
    let (Some(first), Some(given_up)) = (of(Outcome::Wait), of(Outcome::GivenUp)) else { return };
    // The entry of repeated waits begins with the first of them.
    let took = given_up.ended_at.duration_since(first.began_at);
    let least = SignedDuration::try_from(STUCK_FOR).unwrap_or_default();
    let away: SignedDuration = outages
        .iter()
        .map(|(from, until)| {
            let (from, until) = ((*from).max(first.began_at), (*until).min(given_up.ended_at));
            until.duration_since(from).max(SignedDuration::ZERO)
        })
        .fold(SignedDuration::ZERO, |sum, one| sum + one);
    // Owners that died when the limit was reached, or after it.
    let due = first.began_at + least;
    let takeovers = case.journal.iter().filter(|entry| {
        entry.event == EntryEvent::Taken && entry.began_at > due && entry.seq < given_up.seq
    });
    let takeovers = i32::try_from(takeovers.count()).unwrap_or(i32::MAX);
    let late = took - least - away - PER_TAKEOVER * takeovers;
    verdict.latest_limit = verdict.latest_limit.max(late);
    if took < least - TOLERANCE || late > LATE {
        verdict.add(
            11,
            format!(
                "a limit of {least:#} fired after {took:#}, the database was away for {away:#}, \
                 {takeovers} owners died: {:?}",
                case.row
            ),
        );
    }
}
