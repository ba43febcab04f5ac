//! The next change of a cluster, and its time. Pure: state and times in, changes out.

use std::time::Duration;

use jiff::Timestamp;

use super::records::{Cluster, Event, Failing, Records, Script, Status};

/// After so many failed rounds it gives up.
const MOST_ROUNDS: u32 = 150;
/// After so many failed rounds it gives up to remove.
const MOST_DELETIONS: u32 = 15;

/// The time, and how long things take.
pub(super) struct Times {
    pub(super) now: Timestamp,
    pub(super) pending: Duration,
    pub(super) round: Duration,
    pub(super) between: Duration,
    pub(super) period: Duration,
}

/// The due events, at most one for each cluster.
pub(super) fn due(known: &Records, times: &Times) -> Vec<Event> {
    let unscripted = Script::default();
    let next = |(id, cluster): (&String, &Cluster)| {
        let script = known.scripts.get(id).unwrap_or(&unscripted);
        next(id, cluster, script, times)
    };
    known.clusters.iter().filter_map(next).collect()
}

fn next(id: &str, cluster: &Cluster, script: &Script, times: &Times) -> Option<Event> {
    let after = |delay: Duration| Some(cluster.since + delay).filter(|at| *at <= times.now);
    let failed = cluster.failed_rounds;
    let to = |status, at, failed_rounds, failures| {
        Some(Event::Moved { id: id.into(), status, at, failed_rounds, failures })
    };
    let same = || cluster.failures.clone();
    match cluster.status {
        Status::ReconcilePending => to(Status::Reconciling, after(times.pending)?, failed, same()),
        Status::Reconciling => {
            let at = after(times.round)?;
            let gives_up = script.fails || failed + 1 >= MOST_ROUNDS;
            match (script.fails || failed < script.failing_rounds, gives_up) {
                (false, _) => to(Status::Ready, at, 0, Vec::new()),
                (true, true) => to(Status::Error, at, failed + 1, failures(cluster, script)),
                (true, false) => {
                    let failures = failures(cluster, script);
                    to(Status::ReconcileErrorRetryable, at, failed + 1, failures)
                }
            }
        }
        Status::ReconcileErrorRetryable => {
            to(Status::Reconciling, after(times.between)?, failed, same())
        }
        // From now and not from when it was due: nobody looked, so nothing happened meanwhile.
        Status::Ready if !times.period.is_zero() => {
            after(times.period)?;
            to(Status::Reconciling, times.now, 0, Vec::new())
        }
        Status::DeletePending => to(Status::Deleting, after(times.pending)?, failed, same()),
        Status::Deleting if !script.deletion_sticks => {
            let at = after(times.round)?;
            let unknown_host = script.failures.iter().any(|it| it.reason.contains("no such host"));
            if failed >= script.failing_deletions || (unknown_host && failed >= 1) {
                return Some(Event::Gone { id: id.into(), at });
            }
            let more = failed + 1 < MOST_DELETIONS;
            let status = if more { Status::DeleteErrorRetryable } else { Status::DeleteError };
            to(status, at, failed + 1, failures(cluster, script))
        }
        Status::DeleteErrorRetryable => to(Status::Deleting, after(times.between)?, failed, same()),
        _ => None,
    }
}

/// The scripted failures, or one of the first component.
fn failures(cluster: &Cluster, script: &Script) -> Vec<Failing> {
    if !script.failures.is_empty() {
        return script.failures.clone();
    }
    let first = cluster.configs.last().and_then(|config| config.parts.first());
    let component = first.cloned().unwrap_or_else(|| "CRDs".into());
    vec![Failing { component, reason: "the deployment did not become ready".into() }]
}
