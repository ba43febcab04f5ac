//! How orchestrations end, whatever happens meanwhile.

use std::sync::atomic::Ordering::SeqCst;

use broker::{
    operations::view::OperationsError,
    orchestrations::{PageRequest, Retry},
};
use engine::{State, Storage as _};
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

pub(crate) async fn what_waits_behind_another_operation_does_not_begin_after_a_cancel(w: World) {
    w.made(2).await;
    w.occupy("i-0").await;
    w.work();
    let id = w.upgrade_all(&json!({ "parallel": { "workers": 2 } })).await;
    w.until(&id, |it| number(it, "succeeded") == 1).await;
    let accepted = async || w.operation_of(&id, "i-0").await.description == "Operation accepted";
    w.until_true(accepted).await;

    w.orchestrations.pause(&id).await.unwrap();
    w.orchestrations.cancel(&id).await.unwrap();

    // The other operation has not ended.
    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), number(&status, "canceled")), ("canceled", 1));
    let left_out = w.operation_of(&id, "i-0").await;
    assert_eq!(left_out.description, "Operation was canceled");
    let stored = w.broker.parts().operations.read(left_out.operation_id).await.unwrap().unwrap();
    assert_eq!(stored.state, State::Canceled);
}

pub(crate) async fn a_driver_is_ended_by_its_orchestration_alone(w: World) {
    w.made(1).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;
    let driver = w.driver(&id).await;

    let canceled = w.operations().cancel(driver, "no reason".into()).await.unwrap_err();
    let abandoned = w.operations().abandon(driver, "no reason".into()).await.unwrap_err();

    let way = format!("kcp orchestrations {id} cancel");
    for refused in [canceled, abandoned] {
        assert!(
            matches!(&refused, OperationsError::Conflict(why) if why.contains(&way)),
            "{refused}"
        );
    }
    w.orchestrations.cancel(&id).await.unwrap();
    w.upgrades.held.store(false, SeqCst);
    assert_eq!(w.ended(&id).await.state, "canceled");
    w.until_true(async || w.operations().find(driver).await.unwrap().state.is_final()).await;
    let ended = w.operations().cancel(driver, "too late".into()).await.unwrap_err();
    assert!(matches!(ended, OperationsError::Ended(_)), "{ended}");
    let retried = w.operations().retry(driver).await.unwrap_err();
    let way = format!("kcp orchestrations {id} retry");
    assert!(matches!(&retried, OperationsError::Conflict(why) if why.contains(&way)), "{retried}");
    assert_eq!(w.driver(&id).await, driver);
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
    // The failures are in the list of everything, and not among what has failed.
    let all = w.orchestrations.operations(&id, &PageRequest::default()).await.unwrap();
    let failed = PageRequest { states: vec!["failed".into()], ..PageRequest::default() };
    let failed = w.orchestrations.operations(&id, &failed).await.unwrap();
    assert_eq!((all.total_count, failed.count, failed.total_count), (6, 0, 0));
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
