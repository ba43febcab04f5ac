//! The outside world: one system that creates things, and the ledger of everything it was asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use base::{Clock, Failure, caller};
use engine::{OperationId, StepError, storage::Snapshot, testing::SimulatedStore};
use jiff::Timestamp;
use tokio::sync::watch;

use crate::{
    checker::{self, Violation},
    nemesis::LEASE,
    plans::PLACES,
};

/// The shared world.
#[derive(Default)]
pub(crate) struct World {
    /// Things by name, with how often each was made.
    pub made: BTreeMap<String, u32>,
    /// When each can be seen: a look right after the making may miss it, the key does not.
    seen_from: BTreeMap<String, Timestamp>,
    /// Idempotency keys that were seen.
    keys: BTreeSet<String>,
    /// The highest epoch seen per operation; older ones are refused.
    epochs: BTreeMap<OperationId, i64>,
    /// How often a flaky thing still fails.
    pub flaky: BTreeMap<String, u32>,
    /// The operations that called for each instance, in the order of their first calls.
    callers: BTreeMap<String, Vec<OperationId>>,
    pub violations: Vec<Violation>,
    pub story: String,
}

/// One replica's line to the outside world.
#[derive(Clone)]
pub(crate) struct OutsideConnection {
    pub world: Arc<Mutex<World>>,
    pub store: SimulatedStore,
    pub clock: Clock,
    pub random: Arc<Mutex<fastrand::Rng>>,
    pub paused: watch::Sender<bool>,
    pub lose: f64,
}

impl OutsideConnection {
    fn chance(&self, of: f64) -> bool {
        self.random.lock().unwrap().f64() < of
    }

    /// Looks whether a thing is there, and makes it if not: as a good step does.
    pub(crate) async fn ensure(&self, thing: &str) -> Result<(), StepError> {
        if self.call(thing, false).await? {
            return Ok(());
        }
        self.call(thing, true).await?;
        Ok(())
    }

    /// Looks at a thing that takes its time.
    pub(crate) async fn look(&self, thing: &str) -> Result<(), StepError> {
        self.clock.sleep(Duration::from_millis(500)).await;
        self.call(thing, false).await.map(drop)
    }

    /// One call; whether the thing was there before.
    async fn call(&self, thing: &str, make: bool) -> Result<bool, StepError> {
        let answer = caller::call(async |call| {
            let call = call.expect("steps call");
            self.check_right(&call);
            self.travel().await;
            let there = self.receive(&call, thing, make);
            self.travel().await;
            there
        })
        .await??;
        Ok(answer)
    }

    /// The way there or back: takes time, and stands still while the replica is paused.
    async fn travel(&self) {
        let delay = Duration::from_micros(self.random.lock().unwrap().u64(0..40_000));
        self.clock.sleep(delay).await;
        let _ = self.paused.subscribe().wait_for(|paused| !paused).await;
    }

    fn receive(&self, call: &caller::Call, thing: &str, make: bool) -> Result<bool, StepError> {
        let mut world = self.world.lock().unwrap();
        let newest = world.epochs.entry(call.operation).or_default();
        if call.epoch < *newest {
            return Err(StepError::transient(Failure::new("outside", "stale", "an older epoch")));
        }
        *newest = call.epoch;
        let now = self.clock.now();
        let there = world.seen_from.get(thing).is_some_and(|from| *from <= now);
        if make && world.keys.insert(call.key.clone()) {
            *world.made.entry(thing.to_owned()).or_default() += 1;
            world.seen_from.entry(thing.to_owned()).or_insert(now + Duration::from_secs(1));
        }
        drop(world);
        if self.chance(self.lose) {
            return Err(StepError::transient(Failure::new("outside", "lost", "no answer")));
        }
        Ok(there)
    }

    /// Checked at the moment a call begins: does its replica hold the operation, at this place?
    fn check_right(&self, call: &caller::Call) {
        let all = self.store.all();
        let Some(row) = all.iter().find(|row| row.id == call.operation) else { return };
        self.check_order(call, row);
        // The step that ran when an operator abandoned it may go on for a moment; nothing of it is written.
        if checker::is_abandoned(row) {
            let since = row.ended_at.map(|ended| self.clock.now().duration_since(ended));
            if since.is_some_and(|since| since.unsigned_abs() > LEASE) {
                self.violate(29, format!("a call began {since:?} after the end: {row:?}"));
            }
            return;
        }
        let others = all.iter().filter(|other| {
            other.instance == row.instance && other.due_at.is_some() && other.id != row.id
        });
        let mut found = Vec::new();
        if row.epoch != call.epoch || row.owner != Some(call.replica) {
            found.push((6, "a call began under an old epoch"));
        }
        if row.state.is_final() {
            found.push((20, "a call began for a final operation"));
        }
        if others.count() > 0 {
            found.push((4, "two operations of an instance run"));
        }
        let place =
            PLACES.iter().position(|(_, _, step)| *step == call.step).expect("a known step");
        let (kind, stage, _) = PLACES[place];
        if row.closed.iter().any(|closed| closed == stage) {
            found.push((7, "a step of a closed stage runs"));
        }
        let stored = PLACES.iter().position(|(k, s, step)| {
            *k == kind && Some(*s) == row.stage.as_deref() && Some(*step) == row.step.as_deref()
        });
        let first_of_plan = PLACES.iter().position(|(k, ..)| *k == kind);
        if place > stored.or(first_of_plan).unwrap_or(0) {
            found.push((9, "a step began before the one before it was committed"));
        }
        for (promise, text) in found {
            self.violate(promise, format!("{text}: {call:?}, stored {row:?}"));
        }
    }

    /// Once an operation of an instance has called, those before it never call again, whatever became of them.
    fn check_order(&self, call: &caller::Call, row: &Snapshot) {
        let mut world = self.world.lock().unwrap();
        let callers = world.callers.entry(row.instance.clone()).or_default();
        match callers.iter().position(|caller| *caller == call.operation) {
            None => callers.push(call.operation),
            Some(at) if at + 1 == callers.len() => {}
            Some(_) => {
                drop(world);
                self.violate(4, format!("a call began after one of the next operation: {row:?}"));
            }
        }
    }

    fn violate(&self, promise: u8, text: String) {
        self.world.lock().unwrap().violations.push(Violation { promise, text });
    }
}
