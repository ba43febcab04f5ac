//! The Director: what its calls do, and what the tests about it share.

mod registrations;
mod updates;

use clients::{
    Kind,
    director::{Change, Condition, Director, Registration},
};
use serde_json::json;

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
