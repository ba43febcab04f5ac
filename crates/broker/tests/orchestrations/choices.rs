//! What is told of each operation, and what an operator may change while an orchestration runs.

use std::sync::atomic::Ordering::SeqCst;

use broker::{
    instances::Error,
    orchestrations::{OperationItem, PageRequest, Retry},
};
use domain::orchestration::{Kind, no_time};
use engine::Storage as _;
use serde_json::{Value, json};

use crate::world::{World, number, parameters};

/// A window that is always open.
fn always() -> Value {
    json!({ "default": { "timeBegin": "000000+0000", "timeEnd": "000000+0000" } })
}

async fn operations(w: &World, id: &str) -> Vec<OperationItem> {
    let mut page = w.orchestrations.operations(id, &PageRequest::default()).await.unwrap();
    page.data.sort_by(|one, other| one.instance_id.cmp(&other.instance_id));
    page.data
}

pub(crate) async fn everything_of_an_operation_is_told(w: World) {
    w.made(2).await;
    w.windows(&always());
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let mut asked = parameters(&json!({ "maintenanceWindow": true }));
    asked.dry_run = true;
    let created = w.orchestrations.create(Kind::UpgradeKyma, asked).await.unwrap();
    let id = created.orchestration_id;
    w.until(&id.to_string(), |it| number(it, "in progress") == 1).await;

    let told = operations(&w, &id.to_string()).await;

    assert_eq!(told.len(), 2);
    for (at, item) in told.iter().enumerate() {
        let row = w.broker.parts().store.find(&format!("i-{at}")).await.unwrap().unwrap();
        let (begin, end) = (item.maintenance_window_begin, item.maintenance_window_end);
        assert_eq!(end.duration_since(begin), jiff::SignedDuration::from_hours(24));
        let (state, description) = match at {
            0 => ("in progress", item.description.clone()),
            _ => ("pending", "Operation created".into()),
        };
        let expected = OperationItem {
            operation_id: item.operation_id,
            instance_id: format!("i-{at}"),
            runtime_id: row.runtime_id.unwrap(),
            global_account_id: format!("tn-{at}"),
            sub_account_id: format!("sa-{at}"),
            orchestration_id: id,
            service_plan_id: row.plan_id,
            service_plan_name: "aws".into(),
            dry_run: true,
            shoot_name: row.shoot_name,
            maintenance_window_begin: begin,
            maintenance_window_end: end,
            state: state.into(),
            description,
        };
        assert_eq!(*item, expected);
        let (id, operation) = (id.to_string(), item.operation_id.to_string());
        let detail = w.orchestrations.operation(&id, &operation).await.unwrap();
        // What it is at may be another by now.
        let description = detail.item.description.clone();
        assert_eq!(detail.item, OperationItem { description, ..expected });
    }
}

pub(crate) async fn what_is_asked_for_is_the_request_of_each_upgrade(w: World) {
    let kubernetes = json!({
        "kubernetesVersion": "1.33.2", "machineImage": "gardenlinux", "machineImageVersion": "1592.1.0",
    });
    let table = [
        (
            Kind::UpgradeKyma,
            json!({ "kyma": { "version": "2.11.0" } }),
            vec![("version", json!("2.11.0")), ("dry_run", json!(false))],
        ),
        (
            Kind::UpgradeKyma,
            json!({ "kyma": {}, "dryRun": true }),
            vec![("version", Value::Null), ("dry_run", json!(true))],
        ),
        (
            Kind::UpgradeCluster,
            json!({ "kubernetes": kubernetes }),
            vec![
                ("kubernetes_version", json!("1.33.2")),
                ("machine_image", json!("gardenlinux")),
                ("machine_image_version", json!("1592.1.0")),
                ("dry_run", json!(false)),
            ],
        ),
        (
            Kind::UpgradeCluster,
            json!({ "dryRun": true }),
            vec![
                ("kubernetes_version", Value::Null),
                ("machine_image", Value::Null),
                ("machine_image_version", Value::Null),
                ("dry_run", json!(true)),
            ],
        ),
    ];
    w.made(table.len()).await;
    w.work();

    for (at, (kind, mut asked, expected)) in table.into_iter().enumerate() {
        let instance = format!("i-{at}");
        asked["targets"] = json!({ "include": [{ "instanceID": instance }] });
        let asked = serde_json::from_value(asked).unwrap();
        let id = w.orchestrations.create(kind, asked).await.unwrap().orchestration_id;
        w.until(&id.to_string(), |it| it.state != "pending").await;
        let operation = w.operation_of(&id.to_string(), &instance).await.operation_id;
        let stored = async || w.broker.parts().operations.read(operation).await.unwrap();
        w.until_true(async || stored().await.is_some()).await;

        let stored = stored().await.unwrap();
        let input: Value = serde_json::from_slice(&stored.input).unwrap();
        assert_eq!((stored.instance.as_str(), stored.kind.as_str()), (&*instance, kind.as_str()));
        assert_eq!(input["orchestration"], json!(id));
        for (field, value) in expected {
            // A field that is not there would be null too.
            assert_eq!(input.get(field), Some(&value), "{field} of {instance}");
        }
    }
}

pub(crate) async fn what_is_tried_again_waits_for_its_window_unless_it_shall_begin_at_once(
    w: World,
) {
    w.made(2).await;
    w.windows(&always());
    w.upgrades.fail(&["i-0", "i-1"]);
    w.work();
    let strategy = json!({ "maintenanceWindow": true, "parallel": { "workers": 2 } });
    let id = w.upgrade_all(&strategy).await;
    assert_eq!(w.ended(&id).await.state, "failed");
    w.upgrades.held.store(true, SeqCst);
    let before = operations(&w, &id).await;

    for (at, immediate) in [(0, false), (1, true)] {
        let failed = &before[at];
        let one = Retry { operations: vec![failed.operation_id.to_string()], immediate };
        let retried = w.orchestrations.retry(&id, &one).await.unwrap();
        assert_eq!(retried.retry_shoots, Some(vec![failed.shoot_name.clone()]));

        let now = operations(&w, &id).await;
        let is_again = |it: &&OperationItem| {
            it.instance_id == failed.instance_id && it.operation_id != failed.operation_id
        };
        let again = now.iter().find(is_again).unwrap();
        let window = (again.maintenance_window_begin, again.maintenance_window_end);
        let is_given = window.0 != no_time() && window.1 != no_time();
        assert_eq!(is_given, !immediate, "{again:?}");
    }
    let replaced = vec![before[0].operation_id.to_string()];
    let again = Retry { operations: replaced.clone(), ..Retry::default() };
    let retried = w.orchestrations.retry(&id, &again).await.unwrap();
    assert_eq!((retried.old_operations, retried.invalid_operations), (Some(replaced), None));
}

pub(crate) async fn what_was_upgraded_since_is_not_tried_again(w: World) {
    w.made(2).await;
    w.upgrades.fail(&["i-0", "i-1"]);
    w.work();
    let first = w.upgrade_all(&json!({ "parallel": { "workers": 2 } })).await;
    assert_eq!(w.ended(&first).await.state, "failed");
    w.upgrades.fail(&[]);
    let mut one = parameters(&json!({}));
    one.targets.exclude = serde_json::from_value(json!([{ "globalAccount": "^tn-1$" }])).unwrap();
    let second = w.orchestrations.create(Kind::UpgradeKyma, one).await.unwrap();
    let second = second.orchestration_id.to_string();
    assert_eq!(w.ended(&second).await.state, "succeeded");

    let failed = operations(&w, &first).await;
    let retried = w.orchestrations.retry(&first, &Retry::default()).await.unwrap();

    let of = |instance: &str| failed.iter().find(|it| it.instance_id == instance).unwrap();
    assert_eq!(retried.old_operations, Some(vec![of("i-0").operation_id.to_string()]));
    assert_eq!(retried.retry_shoots, Some(vec![of("i-1").shoot_name.clone()]));
    assert_eq!(retried.invalid_operations, None);
    w.ended(&first).await;
    let tries = [w.upgrades.operations_of("i-0"), w.upgrades.operations_of("i-1")];
    assert_eq!(tries, [2, 2], "by the second orchestration, and by the retry");
}

pub(crate) async fn what_failed_is_tried_again_after_a_dry_run(w: World) {
    w.made(1).await;
    w.upgrades.fail(&["i-0"]);
    w.work();
    let first = w.upgrade_all(&json!({})).await;
    assert_eq!(w.ended(&first).await.state, "failed");
    w.upgrades.fail(&[]);
    let mut dry = parameters(&json!({}));
    dry.dry_run = true;
    let dry = w.orchestrations.create(Kind::UpgradeKyma, dry).await.unwrap();
    assert_eq!(w.ended(&dry.orchestration_id.to_string()).await.state, "succeeded");

    let retried = w.orchestrations.retry(&first, &Retry::default()).await.unwrap();

    assert_eq!((retried.retry_shoots.map(|it| it.len()), retried.old_operations), (Some(1), None));
    assert_eq!(w.ended(&first).await.state, "succeeded");
}

pub(crate) async fn workers_are_between_one_and_a_thousand_and_only_before_the_end(w: World) {
    w.made(1).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;

    for workers in [0, -1, 1_001] {
        let refused = w.orchestrations.change_workers(&id, workers).await.unwrap_err();
        assert!(matches!(refused, Error::Bad(_)), "{workers}: {refused}");
    }
    let resumed = w.orchestrations.resume(&id).await.unwrap_err();
    assert!(matches!(resumed, Error::Unchangeable(_)), "{resumed}");
    w.orchestrations.change_workers(&id, 1_000).await.unwrap();
    assert_eq!(w.get(&id).await.parameters.strategy.parallel.workers, 1_000);
    w.upgrades.held.store(false, SeqCst);
    assert_eq!(w.ended(&id).await.state, "succeeded");

    let changed = w.orchestrations.change_workers(&id, 2).await.unwrap_err();
    let paused = w.orchestrations.pause(&id).await.unwrap_err();

    for late in [changed, paused] {
        assert!(matches!(&late, Error::Unchangeable(why) if why.contains("succeeded")), "{late}");
    }
    assert_eq!(w.get(&id).await.parameters.strategy.parallel.workers, 1_000);
}

pub(crate) async fn an_end_is_expected_while_it_goes_on_and_not_when_it_is_paused_or_over(
    w: World,
) {
    w.made(3).await;
    w.upgrades.held.store(true, SeqCst);
    w.work();
    let id = w.upgrade_all(&json!({})).await;
    w.until(&id, |it| number(it, "in progress") == 1).await;
    w.orchestrations.pause(&id).await.unwrap();
    w.upgrades.held.store(false, SeqCst);
    w.until(&id, |it| number(it, "succeeded") == 1).await;

    let paused = w.orchestrations.progress(&id).await.unwrap();
    w.upgrades.held.store(true, SeqCst);
    w.orchestrations.resume(&id).await.unwrap();
    w.until(&id, |it| number(it, "in progress") == 1).await;
    let running = w.orchestrations.progress(&id).await.unwrap();
    w.upgrades.held.store(false, SeqCst);
    w.ended(&id).await;
    let over = w.orchestrations.progress(&id).await.unwrap();

    assert_eq!((paused.done, paused.total, paused.expected_end), (1, 3, None));
    assert_eq!(paused.pause_reason.as_deref(), Some("paused on request"));
    assert_eq!((running.done, running.slowest.len(), running.paused), (1, 1, false));
    let begun = running.slowest[0].started_at;
    assert!(running.expected_end.unwrap() > begun, "{running:?}");
    assert_eq!((over.done, over.expected_end, over.slowest.len()), (3, None, 0));
    assert!([&paused, &running, &over].iter().all(|it| it.per_hour.unwrap() > 0.0));
}
