//! Which failures a retry, or resuming, accepts for good.

use crate::{bench::Bench, orchestrations::member};

pub(crate) async fn a_retry_of_what_has_ended_accepts_the_failures_that_stay(b: Bench) {
    let (id, operations) = b.with_canaries(&["a", "b", "c"]).await;
    for (name, operation) in ["a", "b", "c"].into_iter().zip(&operations) {
        b.fails(id, name, *operation).await;
    }
    let driver = b.row(id).await.driver;
    assert!(b.store.finish_orchestration(id, driver, "failed").await.unwrap());
    assert_eq!(b.row(id).await.forgiven, 0);

    assert!(b.retries(id, &[(operations[0], member("a"))]).await);

    // Two failures stay, both of canaries: what is tried again is not paused by them.
    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.forgiven, row.forgiven_canaries), ("retrying", 2, 2));
}

pub(crate) async fn to_resume_accepts_the_canaries_that_have_failed_and_no_later_one(b: Bench) {
    let (id, operations) = b.with_canaries(&["a", "b", "c"]).await;
    b.fails(id, "a", operations[0]).await;
    assert!(b.store.pause_orchestration(id, "why").await.unwrap());

    assert!(b.store.resume_orchestration(id).await.unwrap());
    b.fails(id, "b", operations[1]).await;
    b.fails(id, "c", operations[2]).await;

    assert_eq!(b.row(id).await.forgiven_canaries, 1);
    // One of the failures is tried again while it runs: of the two that stay, as many are accepted as were.
    assert!(b.retries(id, &[(operations[0], member("a"))]).await);
    assert_eq!(b.row(id).await.forgiven_canaries, 1);
    let again = [(operations[1], member("b")), (operations[2], member("c"))];
    assert!(b.retries(id, &again).await);
    assert_eq!(b.row(id).await.forgiven_canaries, 0);
}

pub(crate) async fn to_resume_accepts_that_all_canaries_were_canceled(b: Bench) {
    let (id, operations) = b.with_canaries(&["a", "b"]).await;
    for (left_out, accepted) in [(operations[0], false), (operations[1], true)] {
        assert!(b.store.skip_member(left_out, "it was removed").await.unwrap());
        assert!(b.store.pause_orchestration(id, "why").await.unwrap());
        assert!(b.store.resume_orchestration(id).await.unwrap());

        assert_eq!((b.row(id).await.released, b.row(id).await.forgiven_canaries), (accepted, 0));
    }
}

pub(crate) async fn a_retry_of_what_runs_accepts_no_further_failure(b: Bench) {
    for name in ["a", "b", "c"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(3, &["a", "b", "c", "waiting"]).await;
    b.fails(id, "a", operations[0]).await;
    b.fails(id, "b", operations[1]).await;
    assert!(b.store.pause_orchestration(id, "why").await.unwrap());
    assert!(b.store.resume_orchestration(id).await.unwrap());
    b.fails(id, "c", operations[2]).await;
    assert_eq!(b.row(id).await.forgiven, 2);

    // Two failures stay of three, and as many were accepted.
    assert!(b.retries(id, &[(operations[0], member("a"))]).await);
    assert_eq!(b.row(id).await.forgiven, 2);
    // One stays: the budget is not void for the next ones.
    assert!(b.retries(id, &[(operations[1], member("b"))]).await);
    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.forgiven), ("in progress", 1));
}
