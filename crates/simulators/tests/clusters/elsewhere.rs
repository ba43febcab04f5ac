//! The controllers of runtimes work on any API server that has their definitions.

use std::sync::Arc;

use base::Clock;
use cluster::{Catalog, Server, Settings};
use futures::future::{BoxFuture, FutureExt, ready};
use kube::Client;
use simulators::{
    pace::{Pace, Speed},
    runtime::{Controllers, Doors, Wakes, definitions},
};

use crate::world::{World, connect, connection_in};

struct NoDoors;

impl Doors for NoDoors {
    fn open<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<Client>> {
        ready(None).boxed()
    }
}

#[tokio::test]
async fn an_agent_connects_in_a_cluster_that_is_not_the_landscapes() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (settings, clock) = (Settings::new(folder.path()), Clock::running());
    let server = Server::start(settings, clock.clone(), Catalog::default(), listener, |all| all);
    let server = server.await.unwrap();
    server.create_cluster("elsewhere").unwrap();
    for definition in definitions() {
        server.apply("elsewhere", "test", &definition).unwrap();
    }
    let client = connect(&server.kubeconfig("elsewhere", "me").unwrap(), &[]).await;
    let pace = Pace::new(Speed::MAX);
    let settings = simulators::runtime::Settings::default();
    let controllers = Controllers::start(Arc::new(NoDoors), Wakes::new(), settings, clock, pace);

    controllers.follow("elsewhere", client.clone());
    let id = world.registered("elsewhere").await;
    world.configure(&client, &id).await;

    connection_in(&client, "Synchronized").await;
    controllers.stop().await;
    server.stop().await;
}
