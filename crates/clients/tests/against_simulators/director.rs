//! The Director: register, update, label, token, unregister; every fault, and the repetition.

use clients::{
    Kind,
    director::{Change, Condition, Director, Registration},
};
use serde_json::json;
use simulators::{
    system::System,
    trouble::{self, Rule},
};

use crate::{
    faults::{Expected, Fault, Row, Speaks, for_each_fault},
    world::{TENANT, World},
};

const fn row(body: &'static str, changes: bool) -> Row {
    Row {
        system: "director",
        method: "POST",
        path: "/director/graphql$",
        body,
        times: 1,
        speaks: Speaks::Html,
        changes,
    }
}

/// The one endpoint is missing, which says nothing about the requested object.
fn usual(fault: Fault) -> Option<Expected> {
    (fault == Fault::Status(404)).then_some(Expected::Fails(Kind::Refused { status: 404 }))
}

fn registration(name: &str) -> Registration {
    let labels = json!({"broker_instance_id": format!("instance of {name}"), "kept": [1, "ü"]});
    Registration {
        name: name.into(),
        description: Some("a \"runtime\"".into()),
        labels: labels.as_object().unwrap().clone(),
        condition: Some(Condition::Provisioning),
    }
}

async fn registered(director: &Director, number: usize) -> String {
    director.register(TENANT, &registration(&format!("c-{number}"))).await.unwrap()
}

#[tokio::test]
async fn every_call_does_what_it_says() {
    let world = World::new().await;
    let director = world.director();

    let id = registered(&director, 1).await;
    let change = Change {
        labels: json!({"more": {"a": null}}).as_object().unwrap().clone(),
        condition: Some(Condition::Connected),
    };
    director.update(TENANT, &id, &change).await.unwrap();
    director.set_label(TENANT, &id, "one", &json!("value")).await.unwrap();
    let token = director.one_time_token(TENANT, &id).await.unwrap();
    let read = director.runtime(TENANT, &id).await.unwrap().unwrap();

    assert_eq!(read.name, "c-1");
    assert_eq!(read.description.as_deref(), Some("a \"runtime\""));
    for (label, value) in [
        ("kept", json!([1, "ü"])),
        ("more", json!({"a": null})),
        ("one", json!("value")),
        ("broker_instance_id", json!("instance of c-1")),
    ] {
        assert_eq!(read.labels[label], value);
    }
    assert!(token.connector_url.starts_with("http"));
    let found = director.find_by_instance(TENANT, "instance of c-1").await.unwrap();
    assert_eq!(found.as_ref(), Some(&id));
    director.unregister(TENANT, &id).await.unwrap();
    director.unregister(TENANT, &id).await.unwrap();
    assert_eq!(director.runtime(TENANT, &id).await.unwrap(), None);
    assert_eq!(director.update(TENANT, &id, &change).await.unwrap_err().kind, Kind::NotFound);
    assert_eq!(director.runtime("another", &id).await.unwrap(), None);
}

#[tokio::test]
async fn a_registration_leaves_one_runtime_after_every_fault() {
    let world = World::new().await;
    let director = world.director();

    for_each_fault(
        world.side(),
        row("registerRuntime", true),
        usual,
        async |number| director.register(TENANT, &registration(&format!("c-{number}"))).await,
        |number, id| {
            assert_eq!(world.runtimes(&format!("c-{number}")), [id]);
        },
    )
    .await;
    let made = world.applied("director").iter().filter(|line| line.contains("register")).count();
    assert_eq!(made, Fault::ALL.len(), "each registration was applied exactly once");
}

#[tokio::test]
async fn the_look_before_a_registration_may_meet_every_fault() {
    let world = World::new().await;
    let director = world.director();

    for_each_fault(
        world.side(),
        row("runtimes(filter", true),
        usual,
        async |number| director.register(TENANT, &registration(&format!("c-{number}"))).await,
        |number, id| assert_eq!(world.runtimes(&format!("c-{number}")), [id]),
    )
    .await;
}

#[tokio::test]
async fn a_stale_look_does_not_register_twice() {
    let world = World::new().await;
    let director = world.director();
    let first = registered(&director, 1).await;

    let stale = trouble::Kind::StaleRead { seconds: 60 };
    world.troubles().add(Rule::next(1, stale).of("director")).unwrap();
    let second = registered(&director, 1).await;

    assert_eq!(first, second);
    assert_eq!(world.runtimes("c-1"), [first]);
}

#[tokio::test]
async fn an_update_holds_after_every_fault_and_keeps_what_it_does_not_name() {
    let world = World::new().await;
    let director = world.director();
    let id = registered(&director, 1).await;

    for_each_fault(
        world.side(),
        row("updateRuntime", true),
        usual,
        async |number| {
            let labels = json!({"number": number}).as_object().unwrap().clone();
            let change = Change { labels, condition: None };
            director.update(TENANT, &id, &change).await
        },
        |number, ()| {
            let objects = world.running.landscape.director().objects();
            let runtime = objects.iter().find(|object| object.id == id).unwrap();
            assert_eq!(runtime.value["labels"]["number"], number);
            assert_eq!(runtime.value["labels"]["kept"], json!([1, "ü"]));
        },
    )
    .await;
}

#[tokio::test]
async fn an_unregistration_holds_after_every_fault() {
    let world = World::new().await;
    let director = world.director();
    let mut ids = Vec::new();
    for number in 0..Fault::ALL.len() {
        ids.push(registered(&director, number).await);
    }

    for_each_fault(
        world.side(),
        row("unregisterRuntime", true),
        usual,
        async |number| director.unregister(TENANT, &ids[number]).await,
        |number, ()| assert!(world.runtimes(&format!("c-{number}")).is_empty()),
    )
    .await;
    let gone = world.applied("director").iter().filter(|line| line.contains("unregister")).count();
    assert_eq!(gone, Fault::ALL.len(), "each runtime went exactly once");
}

#[tokio::test]
async fn a_one_time_token_and_a_label_are_had_after_every_fault() {
    let world = World::new().await;
    let director = world.director();
    let id = registered(&director, 1).await;

    for_each_fault(
        world.side(),
        row("requestOneTimeTokenForRuntime", true),
        usual,
        async |_| director.one_time_token(TENANT, &id).await,
        |_, token| assert!(!token.connector_url.is_empty()),
    )
    .await;
    for_each_fault(
        world.side(),
        row("setRuntimeLabel", true),
        usual,
        async |number| director.set_label(TENANT, &id, "n", &json!(number)).await,
        |number, ()| {
            let objects = world.running.landscape.director().objects();
            let runtime = objects.iter().find(|object| object.id == id).unwrap();
            assert_eq!(runtime.value["labels"]["n"], number);
        },
    )
    .await;
}

#[tokio::test]
async fn a_read_is_answered_after_every_fault() {
    let world = World::new().await;
    let director = world.director();
    let id = registered(&director, 1).await;

    for_each_fault(
        world.side(),
        row("runtime(id", true),
        usual,
        async |_| director.runtime(TENANT, &id).await,
        |_, runtime| assert_eq!(runtime.unwrap().name, "c-1"),
    )
    .await;
}
