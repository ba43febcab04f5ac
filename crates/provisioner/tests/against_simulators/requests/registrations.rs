//! Runtimes that the caller registered, and registrations that nobody comes back for.

use provisioner::{Caller, chores::abandoned_intents, requests};
use simulators::trouble::{Kind, Rule};

use super::lost_answers::{LOOKS, registered};
use crate::world::{World, aws, caller};

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_that_the_caller_registered_keeps_its_id() {
    let world = World::sqlite().await;
    let registration = clients::director::Registration {
        name: "by-hand".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let id = world.env().director.register(&caller().tenant, &registration).await.unwrap();
    let given = |name: &str| requests::Provision { runtime_id: Some(id.clone()), ..aws(name) };

    let made = world.provisioned(given("given")).await;
    let again = world.provisioner.provision(&caller(), given("again")).await.unwrap_err();
    let other = Caller { tenant: "ga-2".into(), ..caller() };
    let foreign = world.provisioner.provision(&other, given("foreign")).await.unwrap_err();

    assert_eq!(made.runtime_id, id);
    assert!(again.message.contains("in use"), "{again}");
    assert!(foreign.message.contains("not registered"), "{foreign}");
    assert_eq!(registered(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_died_after_registering_is_cleaned_up_after() {
    let world = World::sqlite().await;
    let parts = world.provisioner.parts();
    let intent = parts.store.begin_intent("ga-1", Some("k"), b"request").await.unwrap();
    let registration = clients::director::Registration {
        name: "lost".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let mark = ("kcp_intent", intent.id.to_string());
    let director = &world.env().director;
    director.register_once("ga-1", &registration, (mark.0, &mark.1), false).await.unwrap();
    assert_eq!(
        abandoned_intents::clean(&world.provisioner).await.unwrap(),
        0,
        "it may still go on"
    );

    let later = world.later(std::time::Duration::from_hours(1));
    let cleaned = abandoned_intents::clean(&later).await.unwrap();

    assert_eq!(cleaned, 1);
    assert_eq!(registered(&world), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cleaned_up_after_whatever_hundred_older_ones_fail() {
    let world = World::sqlite().await;
    let store = &world.provisioner.parts().store;
    for _ in 0..100 {
        store.begin_intent("ga-1", None, b"request").await.unwrap();
    }
    let registration = clients::director::Registration {
        name: "lost".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let id = world.env().director.register("ga-1", &registration).await.unwrap();
    store.note_orphan("ga-1", id.parse().unwrap()).await.unwrap();
    let refused = Kind::Status { status: 400, body: None };
    let rule = Rule::next(100, refused).of("director").holding(LOOKS);
    world.landscape.running.landscape.troubles().add(rule).unwrap();

    let cleaned = abandoned_intents::clean(&world.later(std::time::Duration::from_hours(1))).await;

    assert_eq!(cleaned.unwrap(), 1);
    assert_eq!(registered(&world), 0);
}
