//! Drift looks into runtimes page by page, and compares with Shoots that were read not long before.

use std::time::Duration;

use broker::jobs::{LastRun, Settings};
use clients::gardener::RUNTIME_ANNOTATION;
use engine::{PlantedBug, Storage as _};
use jiff::Timestamp;
use serde_json::json;
use simulators::ledger::{Filter, Phase};
use store::{
    BrokerStore, EngineStore, Sealer,
    broker::{ImportedInstance, Instance, NewInstance},
    engine::Time,
};
use uuid::Uuid;

use crate::world::{World, counts};

fn settled_for(settled: Duration) -> Settings {
    Settings { settled, ..Settings::default() }
}

/// More instances than a page looks into; none of their runtimes can be reached.
async fn made(world: &World) -> Vec<Instance> {
    let mut all = Vec::new();
    for number in 1..=12 {
        let runtime = Uuid::from_u128(number);
        let details = json!({"sm_cluster_id": Uuid::from_u128(100 + number)});
        let change = json!({"runtime_id": runtime, "details": details});
        let row = world.made_with(2, &format!("i-{number:02}"), change).await;
        world.shoot(&row.shoot_name, json!({RUNTIME_ANNOTATION: runtime.to_string()})).await;
        all.push(row);
    }
    all
}

/// An older instance like this one that was stored under a key which is lost.
async fn unreadable(world: &World, like: &Instance) {
    unreadable_of(world, like, &["unreadable".to_owned()], 3).await;
}

/// Instances like this one, so many days old, that were stored under a key which is lost.
pub(crate) async fn unreadable_of(world: &World, like: &Instance, ids: &[String], days: u32) {
    let created_at = world.clock.now() - Duration::from_hours(24) * days;
    let imported = |id: &String| imported(like, id, created_at);
    let imported: Vec<ImportedInstance> = ids.iter().map(imported).collect();
    let (database, time) = (world.store.engine().database().clone(), Time::Database);
    let engine = EngineStore::new(database, Sealer::generate(), time, PlantedBug::Nothing);
    BrokerStore::new(engine, world.clock.clone()).import(&imported).await.unwrap();
}

fn imported(like: &Instance, id: &str, created_at: Timestamp) -> ImportedInstance {
    let instance = NewInstance {
        id: id.into(),
        global_account: like.global_account.clone(),
        subaccount: like.subaccount.clone(),
        service_id: like.service_id.clone(),
        plan_id: like.plan_id.clone(),
        plan_name: like.plan_name.clone(),
        provider: like.provider.clone(),
        region: like.region.clone(),
        platform_region: like.platform_region.clone(),
        shoot_name: format!("c-{id}"),
        dashboard_url: like.dashboard_url.clone(),
        order: like.order.clone(),
        details: None,
    };
    ImportedInstance {
        instance,
        runtime_id: None,
        digest: Vec::new(),
        created_at,
        updated_at: created_at,
        deleted_at: None,
        expired_at: None,
        operations: vec![],
        states: vec![],
        bindings: vec![],
    }
}

/// In how many steps a run went on.
async fn steps(world: &World, run: &LastRun) -> i64 {
    let snapshot = world.engine.storage().read(run.operation.uuid()).await.unwrap();
    snapshot.unwrap().runs
}

/// How often a run has read the Shoots.
fn readings(world: &World, run: &LastRun) -> i64 {
    let operation = Some(run.operation.to_string());
    let filter = Filter { operation, phase: Some(Phase::Received), ..Filter::default() };
    let calls = world.running.landscape.ledger().all(&filter).unwrap();
    let lists = calls.iter().filter(|call| call.about.route.ends_with("/shoots"));
    i64::try_from(lists.count()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_with_an_instance_that_cannot_be_read_looks_into_no_more_runtimes_than_others() {
    for world in World::both(|| settled_for(Duration::from_millis(1))).await {
        let all = made(&world).await;
        unreadable(&world, &all[0]).await;

        let run = world.run("drift", false).await;

        let mut told: Vec<&str> = run.report.details.iter().map(|it| it.item.as_str()).collect();
        told.sort_unstable();
        let ids = all.iter().map(|row| row.id.as_str());
        assert_eq!(told, ids.chain(["unreadable"]).collect::<Vec<_>>());
        assert_eq!(counts(&run), [13, 1, 0, 12]);
        // The Shoots, the ten oldest instances, the others.
        assert_eq!(steps(&world, &run).await, 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shoots_are_read_again_when_they_are_old_for_what_has_settled_meanwhile() {
    for (settled, expected) in [(Duration::ZERO, 3), (Duration::from_hours(1), 1)] {
        let world = World::new(settled_for(settled)).await;
        made(&world).await;

        let run = world.run("drift", false).await;

        assert_eq!(counts(&run), [12, 0, 0, 12], "{:?}", run.report);
        assert_eq!((steps(&world, &run).await, readings(&world, &run)), (3, expected));
    }
}
