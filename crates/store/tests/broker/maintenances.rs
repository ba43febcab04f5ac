//! Maintenance announced by upgrades: recorded before it is announced, ended once the operation has ended.

use std::time::Duration;

use engine::State;
use futures::future::join_all;
use serde_json::Value;
use store::broker::{Maintenance, MaintenanceOf, SuspendedEvaluation};
use uuid::Uuid;

use crate::bench::{Bench, instance};

const SETTLED: Duration = Duration::from_secs(30);
const HOLD: Duration = Duration::from_mins(2);

fn of(operation: Uuid, instance: &str) -> MaintenanceOf<'_> {
    MaintenanceOf { operation, kind: "upgradeKyma", instance }
}

fn evaluation(id: i64, status: &str) -> SuspendedEvaluation {
    SuspendedEvaluation { id, status: status.into() }
}

async fn due(b: &Bench) -> Vec<Maintenance> {
    b.store.due_maintenances(SETTLED, 10).await.unwrap()
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
