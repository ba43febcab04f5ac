//! Maintenance announced by upgrades: recorded before it is announced, ended once the operation has ended.

use std::time::Duration;

use base::Failure;
use engine::{State, Storage as _, storage::NewOperation};
use futures::future::join_all;
use serde_json::Value;
use store::{
    broker::{
        Maintenance, MaintenanceOf, MaintenancePart, MemberStart, StartResult, SuspendedEvaluation,
    },
    testing::ManualReplica,
};
use uuid::Uuid;

use crate::{
    bench::{Bench, instance, operation, queue},
    orchestrations::{member, start},
};

const SETTLED: Duration = Duration::from_secs(30);
const HOLD: Duration = Duration::from_mins(2);

fn of(operation: Uuid, instance: &str) -> MaintenanceOf<'_> {
    MaintenanceOf { operation, kind: "upgradeKyma", instance }
}

fn evaluation(id: i64, status: &str) -> SuspendedEvaluation {
    SuspendedEvaluation { id, status: status.into() }
}

async fn due(b: &Bench) -> Vec<Maintenance> {
    let mut due = Vec::new();
    for part in [MaintenancePart::Evaluations, MaintenancePart::Announcement] {
        due.extend(b.store.due_maintenances(part, SETTLED, 10).await.unwrap());
    }
    due
}

pub(crate) async fn what_was_written_first_stays_until_it_is_forgotten(b: Bench) {
    let operation = b.made("one", Value::Null).await;
    let (first, second) = ([evaluation(7, "INACTIVE")], [evaluation(7, "MAINTENANCE")]);
    let began_at = b.clock.now();

    b.store.suspend_evaluations(of(operation, "one"), &first).await.unwrap();
    let kept = b.store.suspend_evaluations(of(operation, "one"), &second).await.unwrap();
    let event = Uuid::now_v7();
    let announced = b.store.announce_maintenance(of(operation, "one"), event).await.unwrap();
    b.wait(5);
    let again = b.store.announce_maintenance(of(operation, "one"), Uuid::now_v7()).await.unwrap();

    assert_eq!(kept, first);
    assert_eq!([announced, again], [began_at; 2]);
    let found = due(&b).await;
    assert_eq!(
        (found.len(), found[0].operation, found[0].orchestration),
        (1, operation, Some(event))
    );
    assert_eq!((&found[0].evaluations[..], found[0].instance.as_str()), (&first[..], "one"));
    b.store.restored_evaluations(operation).await.unwrap();
    assert!(due(&b).await[0].evaluations.is_empty());
    b.store.forget_maintenance(operation).await.unwrap();
    assert_eq!(due(&b).await, []);
}

pub(crate) async fn nothing_is_taken_back_before_its_operation_has_ended(b: Bench) {
    let operation = b.order(&instance("one")).await;
    let all = [evaluation(7, "ACTIVE")];
    b.store.suspend_evaluations(of(operation, "one"), &all).await.unwrap();
    let other = Uuid::now_v7();

    let running = due(&b).await;
    let waits = b.store.has_other_maintenance("one", other).await.unwrap();
    let own = b.store.has_other_maintenance("one", operation).await.unwrap();
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", Value::Null).await;

    assert_eq!((running, waits, own), (Vec::new(), true, false));
    assert_eq!(due(&b).await.len(), 1);
    b.store.restored_evaluations(operation).await.unwrap();
    assert!(!b.store.has_other_maintenance("one", other).await.unwrap());
}

pub(crate) async fn only_what_was_stopped_before_it_began_was_left_out(b: Bench) {
    let replica = b.hands.join().await;
    let table = [
        ("stopped", State::Canceled, false, true),
        ("failed", State::Failed, false, false),
        ("finished", State::Succeeded, false, false),
        ("begun", State::Canceled, true, false),
    ];

    for (name, state, begun, left_out) in table {
        let operation = b.order(&instance(name)).await;
        b.store.announce_maintenance(of(operation, name), Uuid::now_v7()).await.unwrap();
        let held = b.hands.claim(replica, name).await;
        let mut commit = b.hands.ends(&held, Value::Null);
        commit.position.state = state;
        commit.position.started_at = commit.position.started_at.filter(|_| begun);
        b.hands.commit(replica, commit).await;
        b.wait(SETTLED.as_secs());

        let found = due(&b).await.remove(0);

        assert_eq!((found.operation, found.left_out), (operation, left_out), "{name}");
        b.store.forget_maintenance(operation).await.unwrap();
    }
}

pub(crate) async fn what_was_abandoned_before_it_began_was_left_out(b: Bench) {
    let operation = b.order(&instance("one")).await;
    b.store.announce_maintenance(of(operation, "one"), Uuid::now_v7()).await.unwrap();
    let failure = Failure::new("engine", "abandoned", "nobody waits for it");

    assert!(b.engine.abandon(operation, &failure).await.unwrap());
    b.wait(SETTLED.as_secs());

    let found = due(&b).await.remove(0);
    assert_eq!((found.operation, found.left_out), (operation, true));
}

pub(crate) async fn of_many_who_take_a_maintenance_back_one_gets_it(b: Bench) {
    let operation = b.made("one", Value::Null).await;
    let all = [evaluation(7, "ACTIVE")];
    b.store.suspend_evaluations(of(operation, "one"), &all).await.unwrap();
    let found = due(&b).await.remove(0);

    let takes = (0..20).map(|_| b.store.take_maintenance(&found, HOLD));
    let taken = join_all(takes).await.into_iter().filter_map(|taken| taken.unwrap());
    let taken: Vec<Maintenance> = taken.collect();

    assert_eq!(taken.len(), 1);
    assert_eq!(due(&b).await, []);
    b.wait(HOLD.as_secs());
    assert_eq!(due(&b).await.len(), 1);
    // The replica that has it may give it back earlier, and no other may.
    assert!(b.store.take_maintenance(&found, HOLD).await.unwrap().is_none());
    assert!(b.store.take_maintenance(&taken[0], Duration::ZERO).await.unwrap().is_some());
    assert_eq!(due(&b).await.len(), 1);
}

pub(crate) async fn the_maintenance_of_an_operation_that_was_archived_is_taken_back(b: Bench) {
    // Nothing is left of the operation.
    let operation = Uuid::now_v7();
    let all = [evaluation(7, "ACTIVE")];
    b.store.suspend_evaluations(of(operation, "one"), &all).await.unwrap();

    let found = due(&b).await;

    assert_eq!((found.len(), found[0].operation), (1, operation));
    assert_eq!(found[0].ended_at, b.clock.now());
}

pub(crate) async fn when_an_archived_operation_ended_does_not_move_while_it_is_tried_again(
    b: Bench,
) {
    let operation = Uuid::now_v7();
    let all = [evaluation(7, "ACTIVE")];
    b.store.suspend_evaluations(of(operation, "one"), &all).await.unwrap();
    let first = due(&b).await.remove(0);

    for _ in 0..3 {
        let found = due(&b).await.remove(0);
        assert_eq!(found.ended_at, first.ended_at);
        assert!(b.store.take_maintenance(&found, HOLD).await.unwrap().is_some());
        b.wait(HOLD.as_secs());
    }
}

pub(crate) async fn an_announcement_is_due_when_its_evaluations_are_restored(b: Bench) {
    let operation = b.made("one", Value::Null).await;
    b.store.announce_maintenance(of(operation, "one"), Uuid::now_v7()).await.unwrap();
    b.store.suspend_evaluations(of(operation, "one"), &[evaluation(7, "ACTIVE")]).await.unwrap();
    let due = async |part| b.store.due_maintenances(part, SETTLED, 10).await.unwrap();
    let [evaluations, announcement] = [MaintenancePart::Evaluations, MaintenancePart::Announcement];
    let held = due(evaluations).await.remove(0);
    let other = b.store.take_maintenance(&held, HOLD).await.unwrap().unwrap();

    assert_eq!(due(announcement).await, []);
    b.store.restored_evaluations(operation).await.unwrap();

    // Nobody holds it any more, and another replica announces the end.
    assert_eq!(due(evaluations).await, []);
    let found = due(announcement).await.remove(0);
    assert!(b.store.take_maintenance(&other, HOLD).await.unwrap().is_none());
    let announcing = b.store.take_maintenance(&found, HOLD).await.unwrap();
    // Of a replica that restores them late.
    b.store.restored_evaluations(operation).await.unwrap();
    assert!(b.store.take_maintenance(&announcing.unwrap(), HOLD).await.unwrap().is_some());
}

pub(crate) async fn what_is_announced_of_a_runtime_is_written_with_its_operation(b: Bench) {
    for name in ["one", "two", "gone"] {
        b.ready(name).await;
    }
    let (id, ids) = b.orchestrated(1, &["one", "two", "gone"]).await;
    let silent = MemberStart { announced: false, ..start(id) };
    let new = |name: &str, at: usize| NewOperation { id: ids[at], ..operation(name) };

    let started = b.store.start_member(&silent, new("one", 0), &queue).await.unwrap();
    assert_eq!(started, StartResult::Yes);
    assert_eq!(b.start(id, "two", ids[1]).await, StartResult::NoSlot);
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", Value::Null).await;
    assert_eq!(due(&b).await, []);
    assert_eq!(b.start(id, "two", ids[1]).await, StartResult::Yes);
    assert_eq!(b.start(id, "two", ids[1]).await, StartResult::Before);

    // Its operation is there, and has not ended.
    assert_eq!(due(&b).await, []);
    b.hands.end(replica, "two", Value::Null).await;
    let found = due(&b).await;
    assert_eq!((found.len(), found[0].operation), (1, ids[1]));
    assert_eq!((found[0].orchestration, found[0].called_off), (Some(id), false));
}

pub(crate) async fn a_retry_has_no_announcement_before_it_begins(b: Bench) {
    b.ready("one").await;
    let (id, ids) = b.orchestrated(1, &["one"]).await;
    b.fails(id, "one", ids[0]).await;
    b.wait(SETTLED.as_secs());
    b.store.forget_maintenance(ids[0]).await.unwrap();
    let again = member("one");
    let driver = b.row(id).await.driver;
    b.store.finish_orchestration(id, driver, "failed").await.unwrap();
    assert!(b.retries(id, &[(ids[0], again.clone())]).await);
    assert!(b.store.begin_retry(id).await.unwrap());

    assert_eq!(b.start(id, "one", again.operation).await, StartResult::Yes);
    b.store.announce_first_maintenance(of(again.operation, "one"), id).await.unwrap();
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", Value::Null).await;

    assert_eq!(due(&b).await, []);
}

/// An orchestration that is being canceled, with an upgrade that was stopped before it began.
async fn canceling(b: &Bench) -> (Uuid, Uuid) {
    b.ready("one").await;
    let (id, ids) = b.orchestrated(1, &["one"]).await;
    assert_eq!(b.start(id, "one", ids[0]).await, StartResult::Yes);
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    assert!(b.store.cancel_orchestration(id, "canceled").await.unwrap());
    let mut commit = b.hands.ends(&held, Value::Null);
    commit.position.state = State::Canceled;
    commit.position.started_at = None;
    b.hands.commit(replica, commit).await;
    b.wait(SETTLED.as_secs());
    (id, ids[0])
}

pub(crate) async fn what_a_canceled_orchestration_left_out_is_not_announced_of_its_own(b: Bench) {
    let (id, operation) = canceling(&b).await;
    assert_eq!(due(&b).await, [], "how it ends is not known yet");

    let driver = b.row(id).await.driver;
    assert!(b.store.finish_orchestration(id, driver, "canceled").await.unwrap());

    let found = due(&b).await.remove(0);
    assert_eq!((found.operation, found.left_out, found.called_off), (operation, true, true));
}

pub(crate) async fn what_was_left_out_is_announced_of_its_own_when_the_driver_fails_in_a_cancel(
    b: Bench,
) {
    let (id, operation) = canceling(&b).await;
    let driver = b.row(id).await.driver;

    assert!(b.store.finish_orchestration(id, driver, "failed").await.unwrap());

    let found = due(&b).await.remove(0);
    assert_eq!((found.operation, found.left_out, found.called_off), (operation, true, false));
}

pub(crate) async fn that_an_upgrade_never_began_is_known_when_its_operation_is_archived(b: Bench) {
    let operation = Uuid::now_v7();
    b.store.announce_maintenance(of(operation, "one"), Uuid::now_v7()).await.unwrap();
    let mut found = due(&b).await.remove(0);
    found.left_out = true;

    assert!(b.store.take_maintenance(&found, HOLD).await.unwrap().is_some());
    b.wait(HOLD.as_secs());

    assert!(due(&b).await[0].left_out);
}

pub(crate) async fn a_driver_that_fails_leaves_its_announcement_behind(b: Bench) {
    let (id, _) = b.orchestrated(1, &["one"]).await;
    let driver = b.row(id).await.driver;
    let hands = ManualReplica { kind: "orchestration", ..b.hands.clone() };
    let replica = hands.join().await;
    let held = hands.claim(replica, &id.to_string()).await;
    let mut commit = hands.ends(&held, Value::Null);
    commit.position.state = State::Failed;
    hands.commit(replica, commit).await;
    b.wait(SETTLED.as_secs());

    let found = due(&b).await.remove(0);

    assert_eq!((found.operation, &found.instance), (driver, &id.to_string()));
    assert_eq!((found.kind.as_str(), found.orchestration), ("orchestration", None));
    // The driver may have handed it over before.
    let of = MaintenanceOf { operation: driver, kind: "orchestration", instance: &found.instance };
    b.store.hand_over_announcement(of).await.unwrap();
    assert_eq!(due(&b).await.len(), 1);
}
