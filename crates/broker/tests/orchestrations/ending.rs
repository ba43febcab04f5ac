//! How orchestrations end, whatever happens meanwhile.

use std::sync::atomic::Ordering::SeqCst;

use broker::orchestrations::{PageRequest, Retry};
use serde_json::json;

use crate::world::{World, number};

pub(crate) async fn a_canceled_orchestration_sees_through_what_runs_and_ends(w: World) {
    w.made(5).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({ "parallel": { "workers": 2 } })).await;
    w.until(&id, |it| number(it, "in progress") == 2).await;

    w.orchestrations.cancel(&id).await.unwrap();
    let status = w.until(&id, |it| number(it, "canceled") == 3).await;
    assert_eq!((status.state.as_str(), number(&status, "in progress")), ("canceling", 2));
    w.upgrades.held.store(false, SeqCst);

    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), number(&status, "succeeded")), ("canceled", 2));
    // Once more changes nothing, and nothing of it is tried again.
    w.orchestrations.cancel(&id).await.unwrap();
    assert_eq!(w.get(&id).await.state, "canceled");
    assert!(w.orchestrations.retry(&id, &Retry::default()).await.is_err());
}

pub(crate) async fn failed_runtimes_are_tried_again_and_the_others_are_not(w: World) {
    w.made(4).await;
    w.upgrades.fail(&["i-1", "i-3"]);
    w.work();
    let id = w.upgrade_all(&json!({ "parallel": { "workers": 4 } })).await;
    assert_eq!(w.ended(&id).await.state, "failed");

    let unknown = Retry { operations: vec!["nope".into()], immediate: false };
    let nothing = w.orchestrations.retry(&id, &unknown).await.unwrap();
    assert_eq!(nothing.invalid_operations.as_deref(), Some(&["nope".to_owned()][..]));
    assert_eq!((nothing.retry_shoots, w.get(&id).await.state.as_str()), (None, "failed"));

    w.upgrades.fail(&[]);
    let retried = w.orchestrations.retry(&id, &Retry::default()).await.unwrap();
    assert_eq!(retried.retry_shoots.unwrap().len(), 2);
    assert_eq!(retried.msg, "retry operations are queued for processing");

    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), number(&status, "succeeded")), ("succeeded", 4));
    let tries: Vec<_> = (0..4).map(|n| w.upgrades.operations_of(&format!("i-{n}"))).collect();
    assert_eq!(tries, [1, 2, 1, 2]);
}

pub(crate) async fn what_is_tried_again_is_paused_by_new_failures_only(w: World) {
    w.made(4).await;
    w.upgrades.fail(&["i-0", "i-1", "i-2"]);
    w.work();
    let id = w.upgrade_all(&json!({ "failureBudget": 2, "parallel": { "workers": 4 } })).await;
    assert_eq!(number(&w.ended(&id).await, "failed"), 3);
    w.upgrades.fail(&[]);
    let page = w.orchestrations.operations(&id, &PageRequest::default()).await.unwrap();
    let operation = page.data.iter().find(|it| it.instance_id == "i-0").unwrap().operation_id;

    // The two failures that stay were accepted: it does not pause at once.
    let one = Retry { operations: vec![operation.to_string()], immediate: true };
    w.orchestrations.retry(&id, &one).await.unwrap();

    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), status.paused), ("failed", false));
    assert_eq!((number(&status, "succeeded"), number(&status, "failed")), (2, 2));
}

pub(crate) async fn fifty_runtimes_with_failures_and_a_killed_replica_end_with_the_right_counts(
    w: World,
) {
    w.made(50).await;
    w.upgrades.fail(&["i-20", "i-30", "i-40"]);
    w.work();
    let strategy = json!({ "canary": 5, "failureBudget": "4%", "parallel": { "workers": 8 } });
    let id = w.upgrade_all(&strategy).await;
    // The replica dies again and again while runtimes are upgraded.
    for done in [3, 12, 25] {
        w.until(&id, |it| number(it, "succeeded") >= done || it.paused).await;
        w.kill();
        w.work();
    }

    let status = w.until(&id, |it| it.paused).await;
    assert!(status.pause_reason.unwrap().ends_with("the failure budget is 2"));
    w.orchestrations.resume(&id).await.unwrap();

    let status = w.ended(&id).await;
    assert_eq!(status.state, "failed");
    assert_eq!((number(&status, "succeeded"), number(&status, "failed")), (47, 3));
    assert!((0..50).all(|n| w.upgrades.operations_of(&format!("i-{n}")) == 1));
    assert!(w.upgrades.most_at_a_time() <= 8);
}
