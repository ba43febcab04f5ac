//! The controllers of runtimes work on any API server that has their definitions: on the one that `KUBECONFIG` names, or on
//! one of our own that knows nothing else.

use std::sync::Arc;

use base::Clock;
use cluster::{Catalog, Server, Settings};
use futures::future::{BoxFuture, FutureExt, ready};
use kube::{Client, api::DeleteParams};
use serde_json::Value;
use simulators::{
    pace::{Pace, Speed},
    runtime::{Controllers, Doors, Wakes, definitions},
    testing::elsewhere,
};
use tempfile::TempDir;

use crate::world::{World, connect, connection_in, connections, install_agent};

/// An API server that is not the landscape's.
pub(crate) struct ForeignServer {
    pub(crate) client: Client,
    ours: Option<(Server, TempDir)>,
}

impl ForeignServer {
    /// With these definitions.
    pub(crate) async fn with(definitions: &[Value]) -> Self {
        let name = definitions[0]["metadata"]["name"].as_str().unwrap();
        if let Some(client) = elsewhere(name).await {
            return Self { client, ours: None };
        }
        let folder = tempfile::tempdir().unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (settings, clock) = (Settings::new(folder.path()), Clock::running());
        let server = Server::start(settings, clock, Catalog::default(), listener, |all| all);
        let server = server.await.unwrap();
        server.create_cluster("elsewhere").unwrap();
        for definition in definitions {
            server.apply("elsewhere", "test", definition).unwrap();
        }
        let client = connect(&server.kubeconfig("elsewhere", "me").unwrap(), &[]).await;
        Self { client, ours: Some((server, folder)) }
    }

    pub(crate) async fn stop(self) {
        if let Some((server, _folder)) = self.ours {
            server.stop().await;
        }
    }
}

struct NoDoors;

impl Doors for NoDoors {
    fn open<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<Client>> {
        ready(None).boxed()
    }
}

#[tokio::test]
async fn an_agent_connects_in_a_cluster_that_is_not_the_landscapes() {
    let world = World::new().await;
    let place = ForeignServer::with(&definitions()).await;
    let client = place.client.clone();
    // What an earlier test left in a cluster that lives on.
    drop(connections(&client).delete("compass-connection", &DeleteParams::default()).await);
    let (pace, clock) = (Pace::new(Speed::MAX), Clock::running());
    let settings = simulators::runtime::Settings::default();
    let controllers = Controllers::start(Arc::new(NoDoors), Wakes::new(), settings, clock, pace);

    controllers.follow("elsewhere", client.clone());
    let id = world.registered("elsewhere").await;
    install_agent(&client).await;
    world.configure(&client, &id).await;

    connection_in(&client, "Synchronized").await;
    controllers.stop().await;
    place.stop().await;
}
