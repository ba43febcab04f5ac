//! P11: a limit fires when it should, whoever was killed meanwhile.

use engine::storage::Outcome;
use jiff::{SignedDuration, Timestamp};
use kcp_acceptance::torture::plans::STUCK_FOR;

use super::{Case, TOLERANCE, Verdict};

/// How late a limit may fire while the database is there.
const LATE: SignedDuration = SignedDuration::from_secs(5);

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
    verdict.latest_limit = verdict.latest_limit.max(took - least - away);
    if took < least - TOLERANCE || took > least + LATE + away {
        verdict.add(
            11,
            format!("a limit of {least:#} fired after {took:#}, the database was away for {away:#}: {:?}", case.row),
        );
    }
}
