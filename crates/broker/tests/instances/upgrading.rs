//! Upgrades, in every state of an instance.

use std::time::Duration;

use broker::{
    instances::{Caller, Error, Progress, Upgrade, UpgradeTarget},
    runtimes::{Detail, RuntimesQuery},
};
use domain::OperationId;
use engine::State;
use futures::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::World;

const ORCHESTRATION: Uuid = Uuid::from_u128(0x0bce);

fn kyma() -> Upgrade {
    Upgrade {
        orchestration: Some(ORCHESTRATION),
        dry_run: false,
        notify: true,
        target: UpgradeTarget::Kyma { version: Some("2.11.0".into()) },
    }
}

fn cluster() -> Upgrade {
    let target = UpgradeTarget::Cluster {
        kubernetes_version: Some("1.33.2".into()),
        machine_image: None,
        machine_image_version: None,
    };
    Upgrade { target, ..kyma() }
}

async fn upgrade(world: &World, change: Upgrade) -> Result<OperationId, Error> {
    let id = OperationId::new();
    world.broker.upgrade("i-1", id.clone(), change).await.map(|()| id)
}

pub(crate) async fn an_upgrade_is_stored_with_what_is_asked_for_and_told_as_upgrading(
    world: World,
) {
    world.made("i-1").await;

    let id = upgrade(&world, cluster()).await.unwrap();

    let stored = world.read(&id).await;
    assert_eq!((stored.kind.as_str(), stored.instance.as_str()), ("upgradeCluster", "i-1"));
    let input: Value = serde_json::from_slice(&stored.input).unwrap();
    assert_eq!(input["kubernetes_version"], "1.33.2");
    assert_eq!(input["order"]["instance_id"], "i-1");
    world.begin(&id).await;
    assert_eq!(world.state("i-1").await, "upgrading");
    let ask = RuntimesQuery { detail: Detail::All, ..RuntimesQuery::default() };
    let page = world.broker.runtimes(&Caller::default(), &ask).await.unwrap();
    let told = json!(page.data[0].status.upgrading_cluster);
    assert_eq!(told["data"][0]["orchestrationID"], json!(ORCHESTRATION));
}

pub(crate) async fn dry_runs_are_not_told_and_canceled_upgrades_do_not_set_the_version(
    world: World,
) {
    let order = world.ordered("i-1").await;
    let version = |text: &str| json!({"runtime_version": {"version": text, "origin": "defaults", "major": 2}});
    world.end_knowing(&order, &version("2.10.0"), vec![]).await;
    let known = |text: &str| json!({ "details": version(text) });
    let ask = |detail| RuntimesQuery { detail, ..RuntimesQuery::default() };
    let told = async |detail| {
        let page = world.broker.runtimes(&Caller::default(), &ask(detail)).await.unwrap();
        page.data.into_iter().next().unwrap()
    };
    let dry = Upgrade { dry_run: true, ..kyma() };

    for _ in 0..3 {
        world.clock.advance(Duration::from_secs(1));
        let dry = upgrade(&world, dry.clone()).await.unwrap();
        world.end_knowing(&dry, &known("2.12.0"), vec![]).await;
    }

    let all = told(Detail::All).await;
    assert_eq!(
        (all.kyma_version.as_deref(), all.status.upgrading_kyma.total_count),
        (Some("2.10.0"), 0)
    );
    let last = told(Detail::Last).await;
    assert!(last.status.provisioning.is_some() && last.status.upgrading_kyma.data.is_empty());
    for (state, expected) in [(State::Succeeded, "2.11.0"), (State::Canceled, "2.11.0")] {
        world.clock.advance(Duration::from_secs(1));
        let done = upgrade(&world, kyma()).await.unwrap();
        let learnt = if state == State::Succeeded { "2.11.0" } else { "2.13.0" };
        world.end_with(&done, state, &known(learnt)).await;
        assert_eq!(told(Detail::All).await.kyma_version.as_deref(), Some(expected), "{state:?}");
    }
    let all = told(Detail::All).await.status;
    assert_eq!((all.upgrading_kyma.total_count, all.upgrading_kyma.count), (2, 2));
    assert_eq!(all.upgrading_kyma.data[0].state, "canceled");
    assert_eq!(told(Detail::Last).await.status.upgrading_kyma.total_count, 2);
}

pub(crate) async fn an_upgrade_that_has_not_ordered_its_version_leaves_the_one_of_before(
    world: World,
) {
    let order = world.ordered("i-1").await;
    let version = |text: &str| json!({"version": text, "origin": "defaults", "major": 2});
    world.end_knowing(&order, &json!({"runtime_version": version("2.10.0")}), vec![]).await;
    world.clock.advance(Duration::from_secs(1));

    let failed = upgrade(&world, kyma()).await.unwrap();
    let known =
        json!({"version": version("2.11.0"), "details": {"runtime_version": version("2.10.0")}});
    world.end_with(&failed, State::Failed, &known).await;

    let ask = RuntimesQuery { detail: Detail::All, ..RuntimesQuery::default() };
    let page = world.broker.runtimes(&Caller::default(), &ask).await.unwrap();
    let runtime = &page.data[0];
    assert_eq!(runtime.kyma_version.as_deref(), Some("2.10.0"));
    assert_eq!(runtime.status.upgrading_kyma.data[0].runtime_version, "2.11.0");
}

pub(crate) async fn what_operators_upgrade_is_not_the_last_operation_of_the_platform(world: World) {
    let order = world.made("i-1").await;
    let upgrade = upgrade(&world, cluster()).await.unwrap();
    world.begin(&upgrade).await;

    let during = world.follow("i-1", None).await.unwrap();
    world.end(&upgrade, State::Failed, vec![]).await;
    let after = world.follow("i-1", None).await.unwrap();

    assert_eq!(during.progress, Progress::Succeeded);
    assert_eq!(after, world.follow("i-1", Some(&order)).await.unwrap());
    let named = world.follow("i-1", Some(&upgrade)).await.unwrap();
    assert_eq!(named.progress, Progress::Failed);
}

pub(crate) async fn an_upgrade_under_the_same_id_is_begun_once(world: World) {
    world.made("i-1").await;
    let id = OperationId::new();

    let all = (0..20).map(|_| world.broker.upgrade("i-1", id.clone(), kyma()));
    let all = join_all(all).await;

    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(world.operations().await, 2);
    world.end(&id, State::Succeeded, vec![]).await;
    world.broker.upgrade("i-1", id, kyma()).await.unwrap();
    assert_eq!(world.operations().await, 2);
}

pub(crate) async fn upgrades_wait_for_what_runs_and_are_stopped_by_a_removal(world: World) {
    let order = world.ordered("i-1").await;
    let first = upgrade(&world, kyma()).await.unwrap();
    let second = upgrade(&world, cluster()).await.unwrap();
    assert_eq!(world.read(&first).await.state, State::Pending);
    world.end(&order, State::Succeeded, vec![]).await;

    let removal = world.remove("i-1").await.unwrap();

    let stopped = format!("operation preempted by deprovisioning {removal}");
    for id in [first, second] {
        let cancel = world.read(&id).await.cancel.unwrap();
        assert_eq!(cancel.reason, stopped);
    }
    assert!(matches!(upgrade(&world, kyma()).await, Err(Error::Busy)));
}

pub(crate) async fn what_has_no_runtime_cannot_be_upgraded(world: World) {
    let missing = upgrade(&world, kyma()).await;
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    world.made("i-1").await;
    let suspension = world.broker.suspend(&Caller::default(), "i-1").await.unwrap();
    assert!(matches!(upgrade(&world, kyma()).await, Err(Error::Busy)));

    world.end(&suspension, State::Succeeded, vec![]).await;

    let asleep = upgrade(&world, kyma()).await.unwrap_err();
    assert_eq!(asleep.to_string(), "an instance that is suspended cannot be upgraded");
    let prepared = world.broker.prepare_upgrade("i-1", OperationId::new(), kyma()).await;
    assert!(matches!(prepared, Err(Error::Unchangeable(_))), "{prepared:?}");
}

pub(crate) async fn an_order_that_failed_leaves_nothing_to_upgrade(world: World) {
    let order = world.ordered("i-1").await;
    world.fail(&order, "no").await;

    let refused = upgrade(&world, kyma()).await.unwrap_err();

    let text = "an instance that could not be provisioned cannot be upgraded";
    assert_eq!(refused.to_string(), text);
}
