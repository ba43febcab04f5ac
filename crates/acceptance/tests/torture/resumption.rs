//! P10: how long the operations of a replica stand still when it dies, stops or is started again.

use std::{collections::BTreeMap, time::Duration};

use engine::{OperationId, PlantedBug};
use jiff::Timestamp;

use crate::{
    TURN,
    calls::{Call, calls},
    ledger::Event,
    replicas::{LEASE, Slot},
    trial::Trial,
};

/// How many operations are at work.
const OPERATIONS: u32 = 45;
/// A machine that builds something else meanwhile may take this many times longer.
const NOISE: u32 = 3;
/// How long an orderly stop may take, of which 1.5 s are left to what runs.
const LONGEST_STOP: Duration = Duration::from_secs(2);
/// Nobody waits longer than this to be measured.
const LONGEST: Duration = Duration::from_secs(60);

/// The process that called last for each operation.
fn holders(events: &[Event]) -> BTreeMap<OperationId, String> {
    let calls = calls(events).unwrap();
    calls.iter().map(|call| (call.request.operation, call.request.process.clone())).collect()
}

/// Waits until every operation is at work; the place of the replica that has most of them.
async fn settle(trial: &Trial) -> (usize, Vec<OperationId>) {
    let begun = trial.clock.monotonic();
    loop {
        let holders = holders(&trial.ledger.events());
        let of = |slot: &Slot| {
            let mine = holders.iter().filter(|(_, holder)| **holder == slot.process.label);
            mine.map(|(id, _)| *id).collect::<Vec<_>>()
        };
        let shares: Vec<_> = trial.slots.iter().map(of).collect();
        if shares.iter().map(Vec::len).sum::<usize>() == OPERATIONS as usize {
            return shares.into_iter().enumerate().max_by_key(|(_, mine)| mine.len()).unwrap();
        }
        assert!(trial.clock.monotonic() < begun + LONGEST, "not all are at work: {holders:?}");
        trial.clock.sleep(Duration::from_millis(50)).await;
    }
}

/// How long each operation of the process stood still from `since` on, shortest first.
async fn standstill(
    trial: &Trial,
    gone: &str,
    since: Timestamp,
    mine: &[OperationId],
) -> Vec<Duration> {
    let begun = trial.clock.monotonic();
    loop {
        let events = trial.ledger.events();
        let calls = calls(&events).unwrap();
        let goes_on = |call: &&Call<'_>| call.received_at > since && call.request.process != gone;
        let mut next: BTreeMap<OperationId, Duration> = BTreeMap::new();
        for call in calls.iter().filter(goes_on) {
            let after = Duration::try_from(call.received_at.duration_since(since)).unwrap();
            next.entry(call.request.operation).or_insert(after);
        }
        let mut times: Vec<_> = mine.iter().filter_map(|id| next.get(id).copied()).collect();
        if times.len() == mine.len() {
            times.sort_unstable();
            return times;
        }
        assert!(
            trial.clock.monotonic() < begun + LONGEST,
            "only {} of {} operations go on; {}",
            times.len(),
            mine.len(),
            trial.again()
        );
        trial.clock.sleep(Duration::from_millis(50)).await;
    }
}

/// How a replica goes.
#[derive(Debug, Clone, Copy)]
enum ReplicaEnd {
    /// Killed, and never seen again.
    Killed,
    /// Killed, and started again under its name at once.
    Restarted,
    /// Stopped in order.
    Stopped,
}

/// Lets a replica go: the longest of its operations stood still for no longer than promised.
async fn measure(trial: &mut Trial, going: ReplicaEnd, promised: Duration) {
    let (at, mine) = settle(trial).await;
    let gone = trial.slots[at].process.label.clone();
    let mut since = trial.clock.now();
    match going {
        ReplicaEnd::Killed => trial.slots[at].process.kill().await,
        ReplicaEnd::Restarted => {
            trial.slots[at].process.kill().await;
            since = trial.clock.now();
            let name = trial.slots[at].process.name.clone();
            trial.replace(at, Some(&name));
        }
        ReplicaEnd::Stopped => {
            let old = trial.replace(at, None);
            trial.slots[at].process.is_ready().await;
            since = trial.clock.now();
            let took = old.stop(trial.clock.clone()).await;
            let soon = took.is_some_and(|took| took <= LONGEST_STOP * NOISE);
            assert!(soon, "an orderly stop took {took:?}; {}", trial.again());
        }
    }
    let times = standstill(trial, &gone, since, &mine).await;
    let (middle, longest) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{going:?}: {} operations stood still for {middle:?}, the longest for {longest:?} \
         (promised {promised:?})",
        times.len()
    );
    assert!(longest <= promised * NOISE, "{going:?} took {longest:?}; {}", trial.again());
    if matches!(going, ReplicaEnd::Killed) {
        trial.replace(at, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p10_what_a_replica_held_goes_on_soon_after_it_is_gone() {
    let _turn = TURN.lock().await;
    let (mut trial, mut client) = Trial::start(10, PlantedBug::Nothing).await;
    for number in 0..OPERATIONS {
        client.order_watch(number);
    }
    client.is_answered().await;

    measure(&mut trial, ReplicaEnd::Stopped, Duration::from_secs(1)).await;
    measure(&mut trial, ReplicaEnd::Restarted, Duration::from_secs(1)).await;
    measure(&mut trial, ReplicaEnd::Killed, LEASE + Duration::from_secs(2)).await;

    trial.ledger.release();
    trial.come_to_an_end().await.unwrap();
    let history = trial.history(&client).await;
    let violations = crate::checker::check(&history).violations;
    assert!(violations.is_empty(), "{violations:#?}; {}", trial.again());
    trial.succeeded();
}
