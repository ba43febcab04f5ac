//! The archive of instances whose operations are deleted, and the clean-up of jobs.

use std::time::Duration;

use engine::{Storage as _, storage::NewOperation};
use serde_json::json;
use store::broker::{AcceptedInstance, ArchivedInstance};
use uuid::Uuid;

use crate::bench::{Bench, instance, operation, queue};

fn archived(b: &Bench, id: &str, last_operation: Uuid) -> ArchivedInstance {
    let now = b.clock.now().into();
    ArchivedInstance {
        instance: id.into(),
        global_account: "account".into(),
        subscription_global_account: "account".into(),
        subaccount: "subaccount".into(),
        plan_id: "plan-id".into(),
        plan_name: "aws".into(),
        provider: "AWS".into(),
        region: "eu-central-1".into(),
        platform_region: "cf-eu10".into(),
        shoot_name: "c-1".into(),
        last_runtime_id: Some(Uuid::from_u128(7)),
        internal_user: true,
        provisioning_state: "succeeded".into(),
        provisioning_started_at: Some(now),
        provisioning_finished_at: None,
        first_deprovisioning_started_at: now,
        first_deprovisioning_finished_at: now,
        last_deprovisioning_finished_at: now,
        last_operation,
        archived_at: now,
    }
}

/// An instance that was removed, and its removal.
async fn removed(b: &Bench, id: &str) -> Uuid {
    b.made(id, json!({})).await;
    b.wait(1);
    let removal = NewOperation { kind: "deprovision".into(), ..operation(id) };
    let last = removal.id;
    b.store.accept(id, 0, removal, &queue, None).await.unwrap();
    let hands = store::testing::ManualReplica {
        engine: b.engine.clone(),
        clock: b.clock.clone(),
        kind: "deprovision",
        topic: store::broker::TOPIC,
    };
    let replica = hands.join().await;
    hands.end(replica, id, json!({ "removed": true })).await;
    last
}

pub(crate) async fn an_archived_instance_keeps_its_row_and_loses_its_operations(b: Bench) {
    let last = removed(&b, "one").await;
    removed(&b, "other").await;

    assert!(b.store.archive(&archived(&b, "one", last)).await.unwrap());
    assert!(!b.store.archive(&archived(&b, "one", Uuid::nil())).await.unwrap(), "archived once");

    let found = b.store.find_archived("one").await.unwrap().unwrap();
    assert_eq!(found, archived(&b, "one", last));
    assert!(!b.is_stored(last).await);
    assert_eq!(b.store.last_operation("one", None).await.unwrap(), None);
    assert!(b.engine.journal(last).await.unwrap().is_empty());
    assert_eq!(b.count("SELECT count(*) FROM operations").await, 2, "the other's are kept");
    assert_eq!(b.count("SELECT count(*) FROM operation_inputs").await, 2);
    assert_eq!(b.store.find_archived("other").await.unwrap(), None);
}

pub(crate) async fn an_instance_that_is_there_is_not_archived(b: Bench) {
    let first = b.made("there", json!({})).await;
    let left = b.made("left over", json!({ "deleted": true })).await;

    for (id, operation) in [("there", first), ("left over", left)] {
        assert!(!b.store.archive(&archived(&b, id, operation)).await.unwrap());
        assert!(b.is_stored(operation).await);
        assert_eq!(b.store.find_archived(id).await.unwrap(), None);
    }
}

pub(crate) async fn the_id_of_an_archived_instance_is_taken_until_it_is_forgotten(b: Bench) {
    let last = removed(&b, "one").await;
    b.store.archive(&archived(&b, "one", last)).await.unwrap();

    let answer = b.accept_new(&instance("one"), operation("one")).await;
    assert_eq!(answer, AcceptedInstance::Reused { operation: last });
    assert_eq!(b.store.forget_archived(b.clock.now(), 10).await.unwrap(), 0);
    assert_eq!(b.store.count_archived(b.clock.now(), 10).await.unwrap(), 0);
    b.wait(1);
    assert_eq!(b.store.count_archived(b.clock.now(), 10).await.unwrap(), 1);
    assert_eq!(b.store.count_archived(b.clock.now(), 0).await.unwrap(), 0);
    assert_eq!(b.store.forget_archived(b.clock.now(), 10).await.unwrap(), 1);
    assert_eq!(b.store.find_archived("one").await.unwrap(), None);
    b.order(&instance("one")).await;
}

pub(crate) async fn removals_that_ended_are_listed_behind_each_other(b: Bench) {
    let mut removals = Vec::new();
    for id in ["a", "b", "c"] {
        removals.push(removed(&b, id).await);
        b.wait(10);
    }
    b.made("there", json!({})).await;
    let before = b.clock.now() - Duration::from_secs(10);

    let first = b.store.ended_removals(before, None, 1).await.unwrap();
    let key = (first[0].created_at, first[0].operation);
    let rest = b.store.ended_removals(before, Some(key), 10).await.unwrap();

    let listed: Vec<Uuid> = first.iter().chain(&rest).map(|one| one.operation).collect();
    assert_eq!(listed, removals[..2], "the last one ended too lately");
    assert_eq!((first[0].instance.as_str(), first[0].global_account.as_str()), ("a", "account"));
}

pub(crate) async fn old_runs_of_a_job_are_forgotten_but_for_the_newest(b: Bench) {
    let mut runs = Vec::new();
    for _ in 0..3 {
        let run = operation("job/expiry");
        runs.push(run.id);
        b.engine.accept(run, &queue).await.unwrap();
        let replica = b.hands.join().await;
        b.hands.end(replica, "job/expiry", json!(null)).await;
        b.wait(60);
    }
    let other = b.made("one", json!({})).await;

    assert_eq!(b.store.forget_job_runs("job/expiry", b.clock.now(), 1).await.unwrap(), 1);
    assert!(!b.is_stored(runs[0]).await && b.is_stored(runs[1]).await);
    assert_eq!(b.store.forget_job_runs("job/expiry", b.clock.now(), 10).await.unwrap(), 1);
    assert_eq!(b.store.forget_job_runs("job/expiry", b.clock.now(), 10).await.unwrap(), 0);
    assert!(b.is_stored(runs[2]).await && b.is_stored(other).await);
    assert!(b.engine.journal(runs[0]).await.unwrap().is_empty());
}

pub(crate) async fn a_job_is_known_since_it_was_first_asked_for(b: Bench) {
    let first = b.store.job_known_since("expiry").await.unwrap();
    b.wait(60);

    assert_eq!(b.store.job_known_since("expiry").await.unwrap(), first);
    assert_eq!(b.store.job_known_since("other").await.unwrap(), b.clock.now());
}
