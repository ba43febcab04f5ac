//! Killed in the middle and started again: the clusters are there, and what lives in them carries on.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use simulators::pace::Speed;

use crate::world::{World, connection_in, connections, map, namespaced, until};

#[tokio::test]
async fn objects_runtimes_and_kubeconfigs_survive() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.runtime("kept").await, "default");
    maps.create(&PostParams::default(), &map("kept")).await.unwrap();

    let world = world.reopened().await;

    let maps = namespaced::<ConfigMap>(&world.client("kept").await, "default");
    assert!(maps.get_opt("kept").await.unwrap().is_some());
    assert_eq!(world.running.clusters().server().clusters(), ["garden", "kcp", "kept"]);
}

#[tokio::test]
async fn an_agent_that_was_killed_while_it_connected_carries_on() {
    // So slow that it never gets there before the kill.
    let world = World::at(base::Clock::running(), Speed::Times(0.01)).await;
    let client = world.runtime("halfway").await;
    let id = world.registered("halfway").await;
    world.configure(&client, &id).await;
    let trying = |found: &kube::api::DynamicObject| {
        let annotations = found.metadata.annotations.as_ref();
        annotations.is_some_and(|all| all.contains_key("landscape.kcp.dev/trying"))
    };
    until(&connections(&client), "compass-connection", trying).await;

    let world = world.reopened().await;

    // The connector's address has changed with the port, as it does for tests only; a token that
    // was never exchanged is good there too.
    world.configure(&world.client("halfway").await, &id).await;
    connection_in(&world.client("halfway").await, "Synchronized").await;
    assert_eq!(world.registration(&id).await["status"]["condition"], "CONNECTED");
}
