//! Commits that are written twice, or of which nobody knows whether they landed.

use std::ops::Deref;

use engine::{State, Storage, storage::CommitResult};

use crate::bench::{Bench, after, landed};

pub(crate) async fn p17_a_commit_that_was_written_twice_lands_once<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let commit = bench.done(&held);

    let answers = bench.store.commit(replica, &[commit.clone(), commit.clone()]).await.unwrap();

    assert!(landed(&answers[0]));
    assert_eq!(answers[1], CommitResult::Fenced);
    assert_eq!(bench.commit(replica, commit).await, CommitResult::Fenced);
}

pub(crate) async fn p17_an_unknown_commit_can_be_looked_up<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let other = bench.held(replica, "j").await;
    bench.commit(replica, bench.done(&held)).await;

    let ids = [held.id, engine::OperationId::new_v4(), other.id];
    let seen = bench.store.look(&ids).await.unwrap();
    bench.wait(10);
    let later = bench.store.look(&ids).await.unwrap();

    let [Some(first), None, Some(second)] = seen.as_slice() else { panic!("{seen:?}") };
    assert_eq!((first.serial, second.serial), (held.serial + 1, other.serial));
    assert_eq!((first.epoch, first.owner, first.journal), (held.epoch, Some(replica), 3));
    assert!(first.owner_alive);
    assert!(!later[0].as_ref().unwrap().owner_alive);
}

pub(crate) async fn p20_final_is_final<S: Storage>(bench: impl Deref<Target = Bench<S>>) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let end = bench.ends(&held, State::Succeeded);
    let answer = bench.commit(replica, end.clone()).await;
    let held = after(held, &end, &answer);
    let before = bench.read(held.id).await;

    let again = bench.commit(replica, bench.ends(&held, State::Failed)).await;

    assert_eq!(again, CommitResult::Fenced);
    assert_eq!(bench.read(held.id).await, before);
    assert_eq!((before.due_at, before.held, before.owner), (None, false, Some(replica)));
    assert!(bench.claim(replica, 10).await.is_empty());
}

pub(crate) async fn data_stays_as_it_is_when_a_commit_carries_none<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;

    let mut commit = bench.done(&held);
    commit.data_version = 7;
    bench.commit(replica, commit).await;

    let stored = bench.read(held.id).await;
    assert_eq!((stored.data.as_slice(), stored.data_version), (&b"data"[..], 1));
}
