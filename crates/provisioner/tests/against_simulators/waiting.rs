//! Callers that wait until an operation changes, on both databases.

use std::time::Duration;

use provisioner::{
    Follow, PLACES, Provisioner,
    status::{OperationState, OperationStatus},
};
use tokio::{task::JoinHandle, time::timeout};

use crate::world::{World, aws, caller};

/// Far more than an answer at once takes, and far less than the longest wait.
const AT_ONCE: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(20);

fn waiting(wait: Duration) -> Follow {
    Follow { wait, ..Follow::default() }
}

/// An operation that nobody works on: the only replica has stopped working and still answers.
async fn accepted_by_an_idle_replica(world: &World, name: &str) -> OperationStatus {
    world.engine.stop(Duration::ZERO).await;
    world.provisioner.provision(&caller(), aws(name)).await.unwrap()
}

fn wait_in_background(provisioner: &Provisioner, operation: &str) -> JoinHandle<OperationStatus> {
    let (provisioner, operation) = (provisioner.clone(), operation.to_owned());
    tokio::spawn(async move {
        provisioner.operation_change(&caller(), &operation, waiting(LONG)).await.unwrap()
    })
}

/// The answer to a caller that would wait for long, which must come at once.
async fn answered_at_once(world: &World, operation: &str, follow: Follow) -> OperationStatus {
    let caller = caller();
    let asked = world.provisioner.operation_change(&caller, operation, follow);
    timeout(AT_ONCE, asked).await.unwrap().unwrap()
}

async fn woken_by_another_replica(mut world: World) {
    let begun = accepted_by_an_idle_replica(&world, "elsewhere").await;
    let waits = wait_in_background(&world.provisioner, &begun.id);
    world.until(async || world.provisioner.waiting() == 1).await;

    let other = world.another().await;
    // What is not the end is answered as well: the caller goes on from there.
    let mut status = timeout(AT_ONCE, waits).await.unwrap().unwrap();
    while status.state == OperationState::InProgress {
        let follow = Follow {
            wait: LONG,
            seen_state: Some(status.state),
            seen_message: Some(status.message.clone()),
        };
        status = answered_at_once(&world, &begun.id, follow).await;
    }

    assert_eq!(status.state, OperationState::Succeeded);
    assert_eq!(world.provisioner.waiting(), 0);
    other.parts().engine.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_caller_is_woken_by_a_change_that_another_replica_makes_on_postgres() {
    woken_by_another_replica(World::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_caller_is_woken_by_a_change_that_another_replica_makes_on_sqlite() {
    woken_by_another_replica(World::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_an_operation_is_answered_at_once_and_a_final_one_is_never_waited_for() {
    let world = World::sqlite().await;
    let begun = world.provisioner.provision(&caller(), aws("ending")).await.unwrap();
    world.success_of(&begun.id).await;

    let status = answered_at_once(&world, &begun.id, waiting(LONG)).await;

    assert_eq!(status.state, OperationState::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_between_two_calls_is_not_missed_and_without_one_the_time_runs_out() {
    let world = World::sqlite().await;
    let begun = accepted_by_an_idle_replica(&world, "between").await;
    let seen = |message: &str| Follow {
        wait: LONG,
        seen_state: Some(OperationState::InProgress),
        seen_message: Some(message.into()),
    };

    let changed = answered_at_once(&world, &begun.id, seen("an older message")).await;
    assert_eq!(changed.message, begun.message);

    let mut short = seen(&begun.message);
    short.wait = Duration::from_millis(50);
    let same = world.provisioner.operation_change(&caller(), &begun.id, short).await.unwrap();
    assert_eq!(same, changed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_frees_its_place_and_beyond_the_places_nobody_waits() {
    let world = World::sqlite().await;
    let begun = accepted_by_an_idle_replica(&world, "places").await;
    let callers: Vec<_> =
        (0..PLACES).map(|_| wait_in_background(&world.provisioner, &begun.id)).collect();
    world.until(async || world.provisioner.waiting() == PLACES).await;

    let status = answered_at_once(&world, &begun.id, waiting(LONG)).await;
    assert_eq!(status.state, OperationState::InProgress);

    for caller in &callers {
        caller.abort();
    }
    world.until(async || world.provisioner.waiting() == 0).await;
    let waits = wait_in_background(&world.provisioner, &begun.id);
    world.until(async || world.provisioner.waiting() == 1).await;
    waits.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_of_the_service_everybody_who_waits_is_answered_at_once() {
    let world = World::sqlite().await;
    let begun = accepted_by_an_idle_replica(&world, "stopping").await;
    let waits = wait_in_background(&world.provisioner, &begun.id);
    world.until(async || world.provisioner.waiting() == 1).await;

    world.provisioner.end_waits();

    let answered = timeout(AT_ONCE, waits).await.unwrap().unwrap();
    assert_eq!(answered.state, OperationState::InProgress);
    answered_at_once(&world, &begun.id, waiting(LONG)).await;
}
