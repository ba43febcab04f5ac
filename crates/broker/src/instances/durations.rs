//! How long steps usually take: from the journals of operations that ended well not long ago.
//!
//! What a reader would get wrong: platforms poll, thousands at once. The journals are read by one of them now and
//! then; the others take what is known, or nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{
    State, Storage,
    storage::{Entry, Outcome, Snapshot},
};
use jiff::Timestamp;
use store::engine::Filter;

use super::Broker;

/// How many operations are looked at.
const LOOKED_AT: u32 = 20;
/// Fewer say nothing.
const FEWEST: usize = 3;
/// How long what is known stays good.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// How long a step usually takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsualDuration {
    pub(super) shortest: Duration,
    pub(super) longest: Duration,
}

/// Durations by kind and step.
#[derive(Default)]
pub(super) struct Durations(Mutex<HashMap<String, CachedDurations>>);

#[derive(Clone, Default)]
struct CachedDurations {
    since: Timestamp,
    steps: Arc<HashMap<String, UsualDuration>>,
}

impl Broker {
    /// How long the step at which an operation stands usually takes.
    pub(super) async fn usual(&self, operation: &Snapshot) -> Option<UsualDuration> {
        let step = operation.step.as_deref().filter(|_| !operation.state.is_final())?;
        let now = self.parts().clock.now();
        let (known, old) = self.0.durations.known(&operation.kind, now);
        if !old {
            return known.get(step).copied();
        }
        match self.measured(&operation.kind).await {
            Ok(steps) => {
                let usual = steps.get(step).copied();
                self.0.durations.keep(&operation.kind, now, steps);
                usual
            }
            Err(error) => {
                let error = base::failure::chain(&error);
                tracing::warn!(kind = operation.kind, error, "durations cannot be read");
                known.get(step).copied()
            }
        }
    }

    async fn measured(&self, kind: &str) -> Result<HashMap<String, UsualDuration>, super::Error> {
        let operations = &self.parts().operations;
        let filter = Filter {
            kind: Some(kind.to_owned()),
            state: Some(State::Succeeded),
            most: LOOKED_AT,
            ..Filter::default()
        };
        let mut times: HashMap<String, Vec<Duration>> = HashMap::new();
        for ended in operations.list(&filter).await?.operations {
            for (step, time) in taken(&operations.journal(ended.id).await?) {
                times.entry(step).or_default().push(time);
            }
        }
        Ok(times.into_iter().filter_map(|(step, times)| Some((step, usual(times)?))).collect())
    }
}

impl Durations {
    /// The durations of a kind, and whether the caller shall refresh them.
    fn known(&self, kind: &str, now: Timestamp) -> (Arc<HashMap<String, UsualDuration>>, bool) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(kind);
        let old = known.is_none_or(|known| known.since + KEPT <= now);
        let known = known.cloned().unwrap_or_default();
        if old {
            all.insert(kind.to_owned(), CachedDurations { since: now, steps: known.steps.clone() });
        }
        (known.steps, old)
    }

    fn keep(&self, kind: &str, since: Timestamp, steps: HashMap<String, UsualDuration>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(kind.to_owned(), CachedDurations { since, steps: Arc::new(steps) });
    }
}

/// How long each step of one operation took, from its first run to the one that was done.
fn taken(journal: &[Entry]) -> HashMap<String, Duration> {
    let mut began: HashMap<&str, Timestamp> = HashMap::new();
    let mut taken = HashMap::new();
    for entry in journal {
        let (Some(step), Some(outcome)) = (entry.step.as_deref(), entry.outcome) else { continue };
        let began = *began.entry(step).or_insert(entry.began_at);
        if outcome == Outcome::Done
            && let Ok(time) = Duration::try_from(entry.ended_at.duration_since(began))
        {
            taken.insert(step.to_owned(), time);
        }
    }
    taken
}

/// The range without the extremes.
fn usual(mut times: Vec<Duration>) -> Option<UsualDuration> {
    if times.len() < FEWEST {
        return None;
    }
    times.sort_unstable();
    let cut = times.len() / 10;
    Some(UsualDuration { shortest: times[cut], longest: times[times.len() - 1 - cut] })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_usual_time_leaves_out_the_extremes() {
        let many: Vec<Duration> = (1..=20).map(secs).collect();

        assert_eq!(usual(many), Some(UsualDuration { shortest: secs(3), longest: secs(18) }));
        assert_eq!(usual(vec![secs(1), secs(2)]), None);
    }

    #[test]
    fn one_caller_looks_and_the_others_take_what_is_known() {
        let durations = Durations::default();
        let now = Timestamp::UNIX_EPOCH;

        assert!(durations.known("provision", now).1);
        assert!(!durations.known("provision", now).1);

        assert!(durations.known("provision", now + KEPT).1);
        assert!(durations.known("deprovision", now).1);
    }
}
