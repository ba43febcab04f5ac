//! The order in which upgrades start.

use std::sync::atomic::Ordering::SeqCst;

use broker::instances::Caller;
use engine::{State, Storage as _};
use serde_json::json;

use crate::world::{World, number};

pub(crate) async fn every_runtime_is_upgraded_once_and_no_more_than_the_workers_at_a_time(
    w: World,
) {
    w.made(12).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({ "parallel": { "workers": 3 } })).await;
    let status = w.until(&id, |it| number(it, "in progress") == 3).await;
    assert_eq!(number(&status, "pending"), 9);
    w.upgrades.held.store(false, SeqCst);

    let status = w.ended(&id).await;

    assert_eq!(status.state, "succeeded");
    assert_eq!((number(&status, "succeeded"), number(&status, "failed")), (12, 0));
    assert_eq!(w.upgrades.most_at_a_time(), 3);
    assert!((0..12).all(|n| w.upgrades.operations_of(&format!("i-{n}")) == 1));
}

pub(crate) async fn canaries_go_first_and_one_that_fails_pauses(w: World) {
    w.made(6).await;
    w.upgrades.fail(&["i-1"]);
    w.work();
    let id = w.upgrade_all(&json!({ "canary": 2, "parallel": { "workers": 6 } })).await;

    // The other canary may still run when it pauses.
    let status = w.until(&id, |it| it.paused && number(it, "succeeded") == 1).await;
    assert_eq!(status.pause_reason.as_deref(), Some("1 of 2 canaries failed"));
    assert_eq!(number(&status, "pending"), 4);
    let progress = w.orchestrations.progress(&id).await.unwrap();
    let waves: Vec<_> = progress.waves.iter().map(|it| (it.wave, it.done, it.total)).collect();
    assert_eq!(waves, [("canary", 2, 2), ("all", 0, 4)]);

    w.orchestrations.resume(&id).await.unwrap();

    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), number(&status, "succeeded")), ("failed", 5));
}

pub(crate) async fn a_canary_that_fails_after_another_was_accepted_pauses_again(w: World) {
    w.made(5).await;
    w.upgrades.fail(&["i-0", "i-1"]);
    w.work();
    // One at a time.
    let id = w.upgrade_all(&json!({ "canary": 3 })).await;
    for failed in [1, 2] {
        let status = w.until(&id, |it| it.paused).await;
        let reason = format!("{failed} of 3 canaries failed");
        assert_eq!(number(&status, "failed"), failed);
        assert_eq!(status.pause_reason, Some(reason));
        assert_eq!((w.upgrades.operations_of("i-3"), w.upgrades.operations_of("i-4")), (0, 0));
        w.orchestrations.resume(&id).await.unwrap();
    }

    let status = w.ended(&id).await;

    assert_eq!((number(&status, "succeeded"), number(&status, "failed")), (3, 2));
}

pub(crate) async fn canaries_that_are_all_removed_pause_until_that_is_accepted(w: World) {
    w.made(3).await;
    let id = w.upgrade_all(&json!({ "canary": 1 })).await;
    w.orchestrations.pause(&id).await.unwrap();
    w.work();
    w.until(&id, |it| it.state == "in progress").await;
    w.remove("i-0").await;
    w.orchestrations.resume(&id).await.unwrap();

    let status = w.until(&id, |it| it.paused).await;
    assert_eq!(status.pause_reason.as_deref(), Some("1 of 1 canaries were canceled"));
    assert_eq!(number(&status, "pending"), 2);
    w.orchestrations.resume(&id).await.unwrap();

    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), number(&status, "succeeded")), ("succeeded", 2));
}

pub(crate) async fn a_paused_orchestration_starts_nothing_and_more_workers_start_more(w: World) {
    w.made(5).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;

    w.orchestrations.pause(&id).await.unwrap();
    w.orchestrations.change_workers(&id, 2).await.unwrap();
    w.upgrades.held.store(false, SeqCst);
    let status = w.until(&id, |it| number(it, "succeeded") == 1).await;
    assert_eq!((number(&status, "pending"), status.paused), (4, true));
    w.upgrades.held.store(true, SeqCst);
    w.orchestrations.resume(&id).await.unwrap();
    let status = w.until(&id, |it| number(it, "in progress") == 2).await;
    assert_eq!(status.parameters.strategy.parallel.workers, 2);
    w.upgrades.held.store(false, SeqCst);

    assert_eq!(w.ended(&id).await.state, "succeeded");
    assert_eq!(w.upgrades.most_at_a_time(), 2);
    assert!(w.orchestrations.pause(&id).await.is_err());
    assert!(w.orchestrations.change_workers(&id, 0).await.is_err());
}

pub(crate) async fn a_runtime_waits_for_its_window(w: World) {
    w.made(2).await;
    let now = base::Clock::running().now().to_zoned(jiff::tz::TimeZone::UTC);
    let at = |hours: i64| {
        (&now + jiff::SignedDuration::from_hours(hours)).strftime("%H%M%S+0000").to_string()
    };
    w.windows(&json!({
        "rules": [{ "match": { "globalAccountID": "^tn-0$" }, "timeBegin": at(-1), "timeEnd": at(1) }],
        "default": { "timeBegin": at(2), "timeEnd": at(3) },
    }));
    w.work();
    let id =
        w.upgrade_all(&json!({ "maintenanceWindow": true, "parallel": { "workers": 2 } })).await;

    let status = w.until(&id, |it| number(it, "succeeded") == 1).await;

    assert_eq!((status.state.as_str(), number(&status, "pending")), ("in progress", 1));
    assert_eq!((w.upgrades.operations_of("i-0"), w.upgrades.operations_of("i-1")), (1, 0));
    // However fast the first one was, the other one begins in two hours.
    let opens = w.operation_of(&id, "i-1").await.maintenance_window_begin;
    let progress = w.orchestrations.progress(&id).await.unwrap();
    assert!(progress.expected_end.unwrap() >= opens, "{progress:?}");
    w.orchestrations.cancel(&id).await.unwrap();
    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), number(&status, "canceled")), ("canceled", 1));
}

pub(crate) async fn a_runtime_that_is_busy_in_its_window_is_not_queued_behind_what_may_outlast_it(
    w: World,
) {
    w.made(2).await;
    w.windows(&json!({ "default": { "timeBegin": "000000+0000", "timeEnd": "000000+0000" } }));
    w.occupy("i-0").await;
    w.work();
    let now = base::Clock::running().now();
    let id =
        w.upgrade_all(&json!({ "maintenanceWindow": true, "parallel": { "workers": 2 } })).await;

    w.until(&id, |it| number(it, "succeeded") == 1).await;
    w.until_true(async || w.operation_of(&id, "i-0").await.maintenance_window_begin > now).await;

    // Its operation is not accepted; it is looked at again in a minute.
    let busy = w.operation_of(&id, "i-0").await;
    assert_eq!((busy.state.as_str(), busy.description.as_str()), ("pending", "Operation created"));
    assert!(busy.maintenance_window_begin < busy.maintenance_window_end);
    w.orchestrations.cancel(&id).await.unwrap();
    assert_eq!(number(&w.ended(&id).await, "canceled"), 1);
}

pub(crate) async fn what_is_removed_meanwhile_is_left_out(w: World) {
    w.made(3).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;
    w.remove("i-2").await;
    w.upgrades.held.store(false, SeqCst);

    let status = w.ended(&id).await;

    // What was removed has not failed.
    assert_eq!(status.state, "succeeded");
    assert_eq!((number(&status, "succeeded"), number(&status, "canceled")), (2, 1));
    assert_eq!(w.upgrades.operations_of("i-2"), 0);
}

pub(crate) async fn a_runtime_that_is_removed_while_it_is_upgraded_is_canceled_and_has_not_failed(
    w: World,
) {
    w.made(2).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    // A failure would pause it.
    let id = w.upgrade_all(&json!({ "failureBudget": 0 })).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;
    assert_eq!(w.operation_of(&id, "i-0").await.state, "in progress");

    w.remove("i-0").await;
    w.until(&id, |it| number(it, "canceled") == 1).await;
    w.upgrades.held.store(false, SeqCst);

    let status = w.ended(&id).await;
    assert_eq!((status.state.as_str(), status.paused), ("succeeded", false));
    let counted = ["succeeded", "canceled", "failed"].map(|state| number(&status, state));
    assert_eq!(counted, [1, 1, 0]);
    let stopped = w.operation_of(&id, "i-0").await;
    let named = stopped.description.starts_with("operation preempted by deprovisioning ");
    assert!(named, "{stopped:?}");
    // The operation itself has failed: what it was to do is not done.
    let stored = w.broker.parts().operations.read(stopped.operation_id).await.unwrap().unwrap();
    assert_eq!((stored.state, w.upgrades.operations_of("i-0")), (State::Failed, 0));
}

pub(crate) async fn a_runtime_that_is_suspended_before_its_turn_is_canceled_and_says_so(w: World) {
    w.made(2).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;

    w.broker.suspend(&Caller::default(), "i-1").await.unwrap();
    w.upgrades.held.store(false, SeqCst);

    let status = w.ended(&id).await;
    let counted = ["succeeded", "canceled", "failed"].map(|state| number(&status, state));
    assert_eq!((status.state.as_str(), counted), ("succeeded", [1, 1, 0]));
    let left_out = w.operation_of(&id, "i-1").await;
    let said = (left_out.state.as_str(), left_out.description.as_str());
    assert_eq!(said, ("canceled", "the runtime is being removed or suspended"));
    assert_eq!(w.upgrades.operations_of("i-1"), 0);
}
