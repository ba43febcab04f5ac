//! A result lands whole, once, and only from the owner.

mod repetition;

use std::ops::Deref;

use base::Failure;
use engine::{
    State, Storage,
    storage::{AfterCommit, Commit, CommitResult},
};

use crate::bench::{Bench, after, landed};

pub(crate) use repetition::{
    data_stays_as_it_is_when_a_commit_carries_none, p17_a_commit_that_was_written_twice_lands_once,
    p17_an_unknown_commit_can_be_looked_up, p20_final_is_final,
};

pub(crate) async fn a_commit_moves_the_operation_on<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;

    let mut commit = bench.done(&held);
    commit.data = Some(b"more".to_vec());
    commit.position.closed = vec!["start".into(), "second".into()];
    commit.position.incomplete = vec!["start/Slow".into()];
    commit.position.failure = Some(Failure::new("avs", "http", "down"));
    let answer = bench.commit(replica, commit.clone()).await;

    assert_eq!(answer, CommitResult::Yes { journal: 3, cancel: None });
    let stored = bench.read(held.id).await;
    assert_eq!((stored.state, stored.held, stored.runs), (State::InProgress, true, 1));
    assert_eq!(stored.data, b"more");
    assert_eq!(stored.closed, commit.position.closed);
    assert_eq!(stored.incomplete, commit.position.incomplete);
    assert_eq!(stored.failure, commit.position.failure);
    assert_eq!(stored.due_at, Some(held.due_at));
}

/// Stale commits, each with one mistake.
pub(crate) fn stale(commit: &Commit) -> [Commit; 3] {
    let mut epoch = commit.clone();
    epoch.epoch -= 1;
    let mut serial = commit.clone();
    serial.serial -= 1;
    let mut ahead = commit.clone();
    ahead.serial += 1;
    [epoch, serial, ahead]
}

pub(crate) async fn p06_stale_epoch_stale_serial_and_dead_lease_write_nothing<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let commit = bench.done(&held);
    let before = bench.read(held.id).await;

    for stale in stale(&commit) {
        assert_eq!(bench.commit(replica, stale).await, CommitResult::Fenced);
    }
    let stranger = engine::ReplicaId::new_v4();
    assert_eq!(bench.commit(stranger, commit.clone()).await, CommitResult::Fenced);
    bench.wait(10);
    assert_eq!(bench.commit(replica, commit).await, CommitResult::Fenced);

    assert_eq!(bench.read(held.id).await, before);
}

pub(crate) async fn a_batch_is_fenced_row_by_row<S: Storage>(bench: impl Deref<Target = Bench<S>>) {
    let replica = bench.join("r").await;
    for n in 0..20 {
        bench.accept(&format!("i{n}")).await;
    }
    let held = bench.claim(replica, 20).await;
    let mut batch: Vec<_> = held.iter().map(|held| bench.done(held)).collect();
    for stale in batch.iter_mut().skip(1).step_by(2) {
        stale.epoch = 0;
    }
    batch.push(bench.done(&after(
        held[0].clone(),
        &batch[0],
        &CommitResult::Yes { journal: 3, cancel: None },
    )));

    let answers = bench.store.commit(replica, &batch).await.unwrap();

    assert_eq!(answers.len(), 21);
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(landed(answer), n % 2 == 0, "{n}");
    }
}

pub(crate) async fn texts_that_no_database_stores_do_not_stop_a_commit<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let mut commit = bench.sleeps(&held, 1, None);
    commit.position.note = Some("a\0b \"quoted\" ✓".into());
    commit.position.failure = Some(Failure::new("x", "y", "a\0b"));
    commit.run.as_mut().unwrap().failure.clone_from(&commit.position.failure);

    let answer = bench.commit(replica, commit.clone()).await;

    assert!(landed(&answer), "{answer:?}");
    assert!(matches!(commit.then, AfterCommit::Sleep { .. }));
    let stored = bench.read(held.id).await;
    assert_eq!(stored.note.as_deref(), Some("a\u{fffd}b \"quoted\" ✓"));
    assert_eq!(stored.failure, commit.position.failure);
}
