//! Notifications as a whole: announced once, told how far they are, taken back.

use clients::{
    Kind,
    spc::{Event, EventReceipt, EventType, Tenant},
};
use serde_json::{Value, json};

use super::world::{World, lost, on};

fn event(tenants: Vec<Tenant>) -> Event {
    Event { orchestration_id: "o-1".into(), event_type: EventType::Cluster, tenants }
}

async fn kept(world: &World) -> Vec<Value> {
    world.objects("spc", "event").await.into_iter().map(|event| event["value"].clone()).collect()
}

#[tokio::test]
async fn maintenance_is_announced_begun_finished_and_cancelled() {
    let world = World::new().await;
    let (spc, now) = (world.place().spc(), world.clock.now());
    let planned = ["i-1", "i-2"].map(|id| Tenant::planned(id, now, Some(now)));

    assert_eq!(spc.create(&event(planned.into())).await.unwrap(), EventReceipt::Now);
    assert_eq!(kept(&world).await[0]["status"], "planned");
    spc.update(&event(vec![Tenant::begun("i-1", now)])).await.unwrap();
    assert_eq!(kept(&world).await[0]["tenants"]["i-1"]["progress"], "under-maintenance");
    spc.update(&event(vec![Tenant::finished("i-1", now)])).await.unwrap();
    let progress = kept(&world).await[0]["tenants"].clone();
    assert_eq!(progress["i-1"]["progress"], "finished");
    assert_eq!(progress["i-1"]["end"], "2026-01-01 12:00:00");
    assert_eq!(progress["i-2"]["progress"], "planned");

    spc.cancel("o-1").await.unwrap();
    spc.cancel("o-1").await.unwrap();
    assert_eq!(kept(&world).await[0]["status"], "cancelled");
}

#[tokio::test]
async fn an_announcement_may_be_repeated_and_its_answer_may_be_lost() {
    let world = World::new().await;
    let (spc, now) = (world.place().spc(), world.clock.now());
    let event = event(vec![Tenant::begun("i-1", now)]);
    world.trouble("spc", 1, lost());

    assert_eq!(spc.create(&event).await.unwrap_err().kind, Kind::AnswerLost);
    assert_eq!(spc.create(&event).await.unwrap(), EventReceipt::Now);
    world.order("spc", "refuse-twice", on()).await;
    assert_eq!(spc.create(&event).await.unwrap(), EventReceipt::Before);

    assert_eq!(kept(&world).await.len(), 1);
}

#[tokio::test]
async fn an_event_that_the_service_forgot_is_announced_again() {
    let world = World::new().await;
    let (spc, now) = (world.place().spc(), world.clock.now());

    spc.update(&event(vec![Tenant::begun("i-1", now)])).await.unwrap();

    let expected = [
        "PATCH /spc/updateMaintenanceEvent",
        "POST /spc/createMaintenanceEvent",
        "PATCH /spc/updateMaintenanceEvent",
    ];
    assert_eq!(world.received("spc"), expected);
    assert_eq!(kept(&world).await[0]["status"], json!("active"));
}

#[tokio::test]
async fn an_event_that_is_nowhere_is_cancelled() {
    let world = World::new().await;

    world.place().spc().cancel("o-1").await.unwrap();

    assert_eq!(kept(&world).await, Vec::<Value>::new());
}
