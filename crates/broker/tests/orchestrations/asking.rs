//! Requests for orchestrations, and their responses.

use std::collections::BTreeSet;

use broker::{instances::Error, orchestrations::PageRequest};
use domain::orchestration::Kind;
use serde_json::json;
use store::broker::NewRuntimeState;

use crate::world::{World, parameters};

pub(crate) async fn what_is_wrong_is_refused_and_nothing_is_stored(w: World) {
    w.made(1).await;
    let mut nobody = parameters(&json!({}));
    nobody.targets.include[0].plan_name = "trial".into();
    let mut no_kyma = parameters(&json!({}));
    no_kyma.kyma = None;

    for (asked, problem) in [
        (nobody, "targets: no runtime matches"),
        (no_kyma, "kyma is missing"),
        (parameters(&json!({ "type": "serial" })), "strategy.type can only be"),
    ] {
        let error = w.orchestrations.create(Kind::UpgradeKyma, asked).await.unwrap_err();
        assert!(matches!(&error, Error::Bad(text) if text.starts_with(problem)), "{error}");
    }

    let page = w.orchestrations.list(&PageRequest::default()).await.unwrap();
    assert_eq!((page.count, page.total_count), (0, 0));
}

pub(crate) async fn windows_that_nobody_has_are_told_at_once_unless_it_begins_later(w: World) {
    w.made(2).await;

    let now = parameters(&json!({ "maintenanceWindow": true }));
    let error = w.orchestrations.create(Kind::UpgradeKyma, now).await.unwrap_err();
    let tomorrow = base::Clock::running().now() + std::time::Duration::from_hours(24);
    let later = json!({ "maintenanceWindow": true, "schedule": tomorrow.to_string() });
    let later = parameters(&later);
    w.orchestrations.create(Kind::UpgradeKyma, later).await.unwrap();

    let problem = "targets: no runtime that matches can be upgraded now (instance i-0: its Shoot has no maintenance window)";
    assert!(matches!(&error, Error::Bad(text) if text == problem), "{error}");
    assert_eq!(w.orchestrations.list(&PageRequest::default()).await.unwrap().total_count, 1);
}

pub(crate) async fn windows_that_cannot_be_read_refuse_nothing(w: World) {
    w.made(1).await;
    w.without_windows();

    w.upgrade_all(&json!({ "maintenanceWindow": true })).await;

    let page = w.orchestrations.list(&PageRequest::default()).await.unwrap();
    assert_eq!((page.total_count, page.data[0].state.as_str()), (1, "pending"));
}

pub(crate) async fn runtimes_left_out_for_want_of_a_window_are_counted_in_the_description(
    w: World,
) {
    w.made(3).await;
    let mut rule = json!({ "timeBegin": "000000+0000", "timeEnd": "000000+0000" });
    rule["match"] = json!({ "globalAccountID": "^tn-1$" });
    w.windows(&json!({ "rules": [rule] }));
    w.work();

    let id = w.upgrade_all(&json!({ "maintenanceWindow": true })).await;

    let status = w.ended(&id).await;
    assert_eq!(
        (status.state.as_str(), status.description.as_str()),
        ("succeeded", "Scheduled 1 operation, 2 runtimes without a maintenance window left out")
    );
}

pub(crate) async fn a_preview_tells_who_is_meant_and_creates_nothing(w: World) {
    w.made(4).await;
    w.remove("i-2").await;
    let mut asked = parameters(&json!({ "canary": 1 }));
    asked.targets.exclude = serde_json::from_value(json!([{ "globalAccount": "^tn-1$" }])).unwrap();

    let preview = w.orchestrations.preview(Kind::UpgradeKyma, asked).await.unwrap();

    let meant: Vec<_> =
        preview.runtimes.iter().map(|it| (it.instance_id.as_str(), it.canary)).collect();
    // The removal has not begun, so it is not left out yet.
    assert_eq!(meant, [("i-0", true), ("i-2", false), ("i-3", false)]);
    assert_eq!(w.orchestrations.list(&PageRequest::default()).await.unwrap().total_count, 0);
}

pub(crate) async fn orchestrations_and_operations_are_told_page_by_page(w: World) {
    w.made(7).await;
    w.upgrades.fail(&["i-1", "i-4"]);
    w.work();
    let id = w.upgrade_all(&json!({ "parallel": { "workers": 3 } })).await;
    let status = w.ended(&id).await;
    assert_eq!(
        (status.state.as_str(), status.description.as_str()),
        ("failed", "Scheduled 7 operations")
    );

    let list = w.orchestrations.list(&PageRequest::default()).await.unwrap();
    let states = |states: &[&str], page| PageRequest {
        page,
        page_size: 3,
        states: states.iter().map(ToString::to_string).collect(),
    };
    let none = w.orchestrations.list(&states(&["pending"], 1)).await.unwrap();
    assert_eq!((list.count, list.total_count, none.total_count), (1, 1, 0));
    assert!(list.data[0].operation_stats.is_none());
    assert_eq!(list.data[0].parameters.kyma.as_ref().unwrap().version, "2.10.0");

    // Known clients read until the counts add up, and ask for what failed on the first page only: it has everything.
    let page = async |wanted: &[&str], page| {
        w.orchestrations.operations(&id, &states(wanted, page)).await.unwrap()
    };
    let (first, second) =
        (page(&["failed", "succeeded"], 1).await, page(&["failed", "succeeded"], 2).await);
    let ids: BTreeSet<_> = first.data.iter().map(|it| it.operation_id).collect();
    assert_eq!((first.count, first.total_count, ids.len()), (7, 7, 7));
    assert_eq!((second.count, second.total_count), (0, 7));
    let (first, second) = (page(&["succeeded"], 1).await, page(&["succeeded"], 2).await);
    assert_eq!((first.count, second.count, second.total_count), (3, 2, 5));
    let all = w.orchestrations.operations(&id, &states(&[], 3)).await.unwrap();
    assert_eq!((all.count, all.total_count), (1, 7));

    let failed = w.orchestrations.operations(&id, &states(&["failed"], 1)).await.unwrap();
    let operation = failed.data[0].operation_id.to_string();
    assert_eq!(failed.data[0].description, "it did not work");
    let detail = w.orchestrations.operation(&id, &operation).await.unwrap();
    assert_eq!(detail.kyma_config.unwrap()["version"], "2.10.0");
    let unknown = w.orchestrations.operation(&id, "nope").await.unwrap_err();
    assert!(matches!(unknown, Error::NotFound(_)));
    assert!(matches!(w.orchestrations.get("nope").await.unwrap_err(), Error::NotFound(_)));

    let progress = w.orchestrations.progress(&id).await.unwrap();
    assert_eq!((progress.total, progress.done), (7, 7));
    assert_eq!((progress.failures.len(), progress.failures[0].count), (1, 2));
    assert_eq!(progress.failures[0].reason, "reconciliation_failed");
}

pub(crate) async fn what_was_sent_for_a_runtime_is_told_with_its_operation_without_secrets(
    w: World,
) {
    w.made(1).await;
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.ended(&id).await;
    let one = w.operation_of(&id, "i-0").await;
    let settings = json!([{ "key": "password", "value": "hush", "secret": true }]);
    let sent = json!({ "kymaConfig": {
        "version": "2.9.3", "components": [{ "component": "istio", "configuration": settings }],
    } });
    let state = NewRuntimeState {
        instance: "i-0".into(),
        runtime: one.runtime_id,
        operation: one.operation_id,
        holds: vec!["kyma-version".into()],
        payload: sent.to_string().into_bytes(),
    };
    let store = &w.broker.parts().store;
    assert!(store.add_runtime_state(&state).await.unwrap());
    let later = NewRuntimeState {
        operation: uuid::Uuid::now_v7(),
        payload: json!({ "kymaConfig": { "version": "2.12.0" } }).to_string().into_bytes(),
        ..state
    };
    assert!(store.add_runtime_state(&later).await.unwrap());

    let told = w.orchestrations.operation(&id, &one.operation_id.to_string()).await.unwrap();

    // The account's version, and not the one that everybody gets or the one that came later.
    let config = told.kyma_config.unwrap();
    assert_eq!(config["version"], "2.9.3");
    assert_eq!(config["components"][0]["configuration"][0]["value"], "[REDACTED]");
}

pub(crate) async fn other_workers_are_kept_when_they_come_while_runtimes_are_chosen(w: World) {
    w.made(1).await;
    w.windows(&json!({ "default": { "timeBegin": "000000+0000", "timeEnd": "000000+0000" } }));
    let orchestrations = w.orchestrations.clone();
    w.while_windows_are_read(move || {
        let all = orchestrations.clone();
        Box::pin(async move {
            let page = all.list(&PageRequest::default()).await.unwrap();
            // They are read for the first time before it is stored.
            if let Some(stored) = page.data.first() {
                let id = stored.orchestration_id.to_string();
                all.change_workers(&id, 9).await.unwrap();
            }
        })
    });
    w.work();

    let id = w.upgrade_all(&json!({ "maintenanceWindow": true })).await;

    let status = w.ended(&id).await;
    assert_eq!(status.state, "succeeded");
    assert_eq!(status.parameters.strategy.parallel.workers, 9);
}
