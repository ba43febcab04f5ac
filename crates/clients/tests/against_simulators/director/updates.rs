//! Updates, removals, tokens and labels in the Director after every fault.

use clients::director::Change;
use serde_json::json;
use simulators::system::System;

use super::{registered, row, usual};
use crate::{
    faults::{Fault, for_each_fault},
    world::{TENANT, World},
};

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
