//! P4, P5, P6, P8, P20: what the outside world saw of the operations.

use std::collections::BTreeMap;

use engine::{OperationId, storage::EntryEvent};
use jiff::{SignedDuration, Timestamp};

use super::{Case, History, Pause, TOLERANCE, Verdict};
use crate::calls::Call;

/// P8: every thing is made once.
pub(super) fn check_effects(calls: &[Call<'_>], verdict: &mut Verdict) {
    let mut made: BTreeMap<&str, Vec<&Call<'_>>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.applied) {
        made.entry(&call.request.thing).or_default().push(call);
    }
    for (thing, calls) in made.iter().filter(|(_, calls)| calls.len() > 1) {
        let keys: Vec<_> = calls.iter().map(|call| &call.request.key).collect();
        verdict.add(8, format!("{thing} was made {} times, under {keys:?}", calls.len()));
    }
}

/// The places of the first and of the last that was recorded of something.
type Interval = (u64, u64);

/// P4: the operations of an instance are at work one after the other.
pub(super) fn check_instances(history: &History, calls: &[Call<'_>], verdict: &mut Verdict) {
    let mut intervals: BTreeMap<OperationId, Interval> = BTreeMap::new();
    for call in calls.iter().filter(|call| !call.refused) {
        let interval = intervals.entry(call.request.operation).or_insert((call.seq, call.last_seq));
        interval.1 = interval.1.max(call.last_seq);
    }
    let mut instances: BTreeMap<&str, Vec<(Interval, OperationId)>> = BTreeMap::new();
    for row in &history.rows {
        if let Some(interval) = intervals.get(&row.id) {
            instances.entry(&row.instance).or_default().push((*interval, row.id));
        }
    }
    for (instance, operations) in &mut instances {
        operations.sort_unstable();
        for pair in operations.windows(2) {
            if pair[1].0.0 <= pair[0].0.1 {
                verdict.add(4, format!("two operations of {instance} at work at once: {pair:?}"));
            }
        }
    }
}

/// P5: one owner per epoch. P6: no call begins after the operation was taken over. P20: nor after
/// its end.
pub(super) fn check_owners(case: &Case<'_>, pauses: &[Pause], verdict: &mut Verdict) {
    let id = case.row.id;
    let taken = || case.journal.iter().filter(|entry| entry.event == EntryEvent::Taken);
    let mut newest = 0;
    for call in &case.calls {
        let request = call.request;
        let owner = taken().find(|entry| entry.epoch == request.epoch);
        if owner.is_none_or(|entry| entry.replica != Some(request.replica)) {
            verdict.add(5, format!("{request:?} by a replica that never owned it"));
        }
        let stale = request.epoch < newest;
        newest = newest.max(request.epoch);
        verdict.stale_calls += u64::from(stale);
        let takeover = taken().find(|entry| entry.epoch > request.epoch);
        let too_late = |end: Timestamp| request.begun_at > end + TOLERANCE;
        if takeover.is_some_and(|entry| too_late(entry.began_at)) {
            match pause_before(call, pauses) {
                Some(pause) => *verdict.in_flight.entry(pause).or_default() += 1,
                None => {
                    verdict.add(6, format!("{request:?} began after the takeover {takeover:?}"));
                }
            }
        }
        // A run's result is committed after the run, so that calls of the run which ended it began before,
        // whatever the clocks say: the end is told in engine time, which is behind while heartbeats are slow.
        let ended_it = case.journal.iter().rev().find_map(|entry| entry.run) == Some(request.run);
        let lag = if ended_it { SLOW_HEARTBEAT } else { SignedDuration::ZERO };
        if case.row.ended_at.is_some_and(|end| too_late(end + lag)) {
            verdict.add(20, format!("a call for {id} began after its end: {request:?}"));
        }
    }
}

/// How far engine time may be behind on a machine that has too much to do.
const SLOW_HEARTBEAT: SignedDuration = SignedDuration::from_secs(2);

/// The pause that had just ended when the call began: the process may have been stopped between
/// being allowed to call and noting the time of it.
fn pause_before(call: &Call<'_>, pauses: &[Pause]) -> Option<usize> {
    pauses.iter().position(|pause| {
        let since = call.request.begun_at.duration_since(pause.until);
        pause.process == call.request.process && since.abs() < TOLERANCE
    })
}

/// P6: a replica runs on two threads, so no more than two calls can be on their way when it is stopped.
pub(super) fn check_in_flight(history: &History, verdict: &mut Verdict) {
    for (pause, calls) in std::mem::take(&mut verdict.in_flight) {
        if calls > 2 {
            let pause = &history.pauses[pause];
            verdict.add(6, format!("{calls} calls began after a takeover and after {pause:?}"));
        }
    }
}
