//! Retries: what failed is tried again, also while another retry has not begun. The driver that comes first begins all of them, and
//! the one that was stored last ends the orchestration.

mod accepting;
mod drivers;

use serde_json::{Value, json};
use store::{
    broker::{Fields, MemberFilter, NewMember, Resolution},
    testing::ManualReplica,
};
use uuid::Uuid;

use crate::{
    bench::{Bench, operation},
    orchestrations::{RESOLUTION, member},
};

pub(crate) use accepting::{
    a_retry_of_what_has_ended_accepts_the_failures_that_stay,
    a_retry_of_what_runs_accepts_no_further_failure,
    to_resume_accepts_that_all_canaries_were_canceled,
    to_resume_accepts_the_canaries_that_have_failed_and_no_later_one,
};
pub(crate) use drivers::{
    a_cancel_before_a_retry_has_begun_lets_nothing_begin,
    a_pause_before_a_retry_has_begun_holds_it_until_it_is_resumed,
    a_retry_goes_on_when_the_driver_before_it_dies_or_fails,
    of_two_retries_the_first_driver_begins_both_and_the_second_ends_them,
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
