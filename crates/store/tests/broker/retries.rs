//! Retries: what failed is tried again, also while another retry has not begun. The driver that comes first begins all of them, and
//! the one that was stored last ends the orchestration.

use engine::{State, Storage as _};
use serde_json::{Value, json};
use store::{
    broker::{Fields, MemberFilter, NewMember, Resolution, StartResult},
    testing::ManualReplica,
};
use uuid::Uuid;

use crate::{
    bench::{Bench, operation},
    orchestrations::{RESOLUTION, member},
};

/// An orchestration that has failed for two instances and is tried again for each of them by a retry of its own.
struct TwoRetries {
    id: Uuid,
    /// The operations that `a` and `b` get by the retries.
    again: [Uuid; 2],
    /// The drivers of the retries.
    drivers: [Uuid; 2],
    hands: ManualReplica,
}

impl Bench {
    /// Tries failed operations of an orchestration again.
    pub(crate) async fn retries(&self, id: Uuid, again: &[(Uuid, NewMember)]) -> bool {
        let driver = operation(&id.to_string());
        let driver = engine::storage::NewOperation { kind: "orchestration".into(), ..driver };
        let resolution = Resolution { orchestration: id, ..RESOLUTION };
        let ids: Vec<String> = again.iter().map(|(failed, _)| failed.to_string()).collect();
        let fields: &Fields<'_> = &[(&["retryoperation", "retryoperations"], json!(ids))];
        self.store.retry_orchestration(driver, &resolution, fields, again).await.unwrap()
    }

    /// An orchestration over instances that are all canaries, and the operations that they will get.
    async fn with_canaries(&self, names: &[&str]) -> (Uuid, Vec<Uuid>) {
        for name in names {
            self.ready(name).await;
        }
        let (id, driver) = self.created(3).await;
        let canary = |name: &&str| NewMember { wave: 0, ..member(name) };
        let members: Vec<NewMember> = names.iter().map(canary).collect();
        let operations = members.iter().map(|member| member.operation).collect();
        let resolution = Resolution { orchestration: id, ..RESOLUTION };
        assert!(self.store.resolve_orchestration(driver, &resolution, &members).await.unwrap());
        (id, operations)
    }

    async fn retried_twice(&self) -> TwoRetries {
        for name in ["a", "b"] {
            self.ready(name).await;
        }
        let (id, operations) = self.orchestrated(2, &["a", "b"]).await;
        for (name, operation) in ["a", "b"].into_iter().zip(&operations) {
            self.fails(id, name, *operation).await;
        }
        let hands = ManualReplica { kind: "orchestration", ..self.hands.clone() };
        let ended = self.row(id).await.driver;
        assert!(self.store.finish_orchestration(id, ended, "failed").await.unwrap());
        hands.end(hands.join().await, id, Value::Null).await;

        let members = ["a", "b"].map(member);
        let again = members.each_ref().map(|member| member.operation);
        let mut drivers = [Uuid::nil(); 2];
        for (at, new) in members.into_iter().enumerate() {
            assert!(self.retries(id, &[(operations[at], new)]).await);
            let row = self.row(id).await;
            assert_eq!(row.state, "retrying");
            drivers[at] = row.driver;
        }
        TwoRetries { id, again, drivers, hands }
    }
}

pub(crate) async fn what_failed_is_tried_again_behind_the_others(b: Bench) {
    for name in ["a", "b"] {
        b.ready(name).await;
    }
    let (id, operations) = b.orchestrated(2, &["a", "b"]).await;
    b.fails(id, "a", operations[0]).await;

    assert!(b.retries(id, &[(operations[0], member("a"))]).await);
    assert!(!b.retries(id, &[(operations[0], member("a"))]).await);

    let counts = b.counts(id).await;
    assert_eq!((counts.total(), counts.in_state("failed"), counts.waiting()), (2, 0, 2));
    let filter =
        MemberFilter { orchestration: id, states: vec![], current: false, skip: 0, most: 10 };
    let page = b.store.members(&filter).await.unwrap();
    let states: Vec<_> =
        page.members.iter().map(|it| (it.instance.as_str(), it.superseded)).collect();
    assert_eq!(states, [("a", true), ("b", false), ("a", false)]);
}

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

pub(crate) async fn of_two_retries_the_first_driver_begins_both_and_the_second_ends_them(b: Bench) {
    let TwoRetries { id, again, drivers, hands } = b.retried_twice().await;
    let replica = hands.join().await;
    let first = hands.claim(replica, id).await;
    assert_eq!(first.id, drivers[0]);
    // The second one waits for its end.
    assert!(hands.try_claim(replica, id).await.is_none());

    assert!(b.store.begin_retry(id).await.unwrap());
    // Once more after a lost answer.
    assert!(!b.store.begin_retry(id).await.unwrap());
    for (name, operation) in ["a", "b"].into_iter().zip(again) {
        assert_eq!(b.start(id, name, operation).await, StartResult::Yes);
    }
    assert!(!b.store.finish_orchestration(id, drivers[0], "failed").await.unwrap());
    assert_eq!(b.row(id).await.state, "in progress");

    hands.commit(replica, hands.ends(&first, Value::Null)).await;
    let second = hands.claim(replica, id).await;
    assert_eq!(second.id, drivers[1]);
    assert!(!b.store.begin_retry(id).await.unwrap());
    assert!(b.store.finish_orchestration(id, drivers[1], "succeeded").await.unwrap());
    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.forgiven, row.released), ("succeeded", 0, false));
}

pub(crate) async fn a_retry_goes_on_when_the_driver_before_it_dies_or_fails(b: Bench) {
    let TwoRetries { id, again, drivers, hands } = b.retried_twice().await;
    let dead = hands.join().await;
    assert_eq!(hands.claim(dead, id).await.id, drivers[0]);
    b.engine.leave(dead).await.unwrap();
    let replica = hands.join().await;
    let first = hands.claim(replica, id).await;
    assert_eq!(first.id, drivers[0]);

    let mut commit = hands.ends(&first, Value::Null);
    commit.position.state = State::Failed;
    commit.position.failure = Some(base::Failure::new("broker", "lost", "it cannot go on"));
    hands.commit(replica, commit).await;

    // It is the second one's orchestration: nothing has ended, nothing was left out.
    assert_eq!((b.row(id).await.state.as_str(), b.counts(id).await.waiting()), ("retrying", 2));
    assert_eq!(hands.claim(replica, id).await.id, drivers[1]);
    assert!(b.store.begin_retry(id).await.unwrap());
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::Yes);
    assert!(b.store.finish_orchestration(id, drivers[1], "failed").await.unwrap());
}

pub(crate) async fn a_cancel_before_a_retry_has_begun_lets_nothing_begin(b: Bench) {
    let TwoRetries { id, again, drivers, .. } = b.retried_twice().await;

    assert!(b.store.cancel_orchestration(id, "canceled").await.unwrap());

    assert!(!b.store.begin_retry(id).await.unwrap());
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::NoSlot);
    assert!(!b.retries(id, &[]).await);
    assert_eq!(b.row(id).await.driver, drivers[1]);
    assert_eq!(b.store.call_off_members(id, "canceled").await.unwrap(), 2);
    assert!(!b.store.finish_orchestration(id, drivers[0], "canceled").await.unwrap());
    assert!(b.store.finish_orchestration(id, drivers[1], "canceled").await.unwrap());
    assert_eq!(b.counts(id).await.in_state("canceled"), 2);
}

pub(crate) async fn a_pause_before_a_retry_has_begun_holds_it_until_it_is_resumed(b: Bench) {
    let TwoRetries { id, again, .. } = b.retried_twice().await;

    assert!(b.store.pause_orchestration(id, "why").await.unwrap());
    assert!(b.store.begin_retry(id).await.unwrap());

    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.paused), ("in progress", true));
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::NoSlot);
    assert!(b.store.resume_orchestration(id).await.unwrap());
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::Yes);
}
