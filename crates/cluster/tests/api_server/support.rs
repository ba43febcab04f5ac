//! A server in a temporary folder, with one cluster called `c` that knows the kind `Thing`.

use std::sync::Arc;

use base::Clock;
use cluster::{Catalog, Column, Kind, Server, Settings, Where};
use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject},
    config::{KubeConfigOptions, Kubeconfig},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) folder: Arc<TempDir>,
    pub(crate) clock: Clock,
}

/// A namespaced kind with status and one column.
pub(crate) fn thing_kind() -> Kind {
    Kind::new("example.org", "v1", "things", "Thing")
        .namespaced()
        .subresource("status")
        .short("th")
        .column(Column::text("Region", ".spec.region"))
        .column(Column::text("State", ".status.state"))
}

pub(crate) fn catalog() -> Catalog {
    Catalog::default().kind(Where::Everywhere, thing_kind())
}

pub(crate) async fn start() -> Running {
    start_with(catalog(), Clock::running(), |_| {}).await
}

pub(crate) async fn start_with(
    catalog: Catalog,
    clock: Clock,
    change: impl FnOnce(&mut Settings),
) -> Running {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut settings = Settings::new(folder.path());
    change(&mut settings);
    let server = open(settings, catalog, clock.clone()).await;
    server.create_cluster("c").unwrap();
    Running { server, folder, clock }
}

pub(crate) async fn open(settings: Settings, catalog: Catalog, clock: Clock) -> Server {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    Server::start(settings, clock, catalog, listener, |router| router).await.unwrap()
}

pub(crate) async fn connect(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    Client::try_from(config).unwrap()
}

impl Running {
    pub(crate) async fn client(&self) -> Client {
        connect(&self.server.kubeconfig("c", "tester").unwrap()).await
    }

    pub(crate) async fn things(&self) -> Api<DynamicObject> {
        things_of(self.client().await)
    }
}

pub(crate) fn things_of(client: Client) -> Api<DynamicObject> {
    Api::namespaced_with(client, "default", &thing_resource())
}

pub(crate) fn thing_resource() -> ApiResource {
    ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("example.org", "v1", "Thing"),
        "things",
    )
}

#[expect(clippy::needless_pass_by_value, reason = "tests write the value in place")]
pub(crate) fn thing(name: &str, spec: Value) -> DynamicObject {
    DynamicObject::new(name, &thing_resource()).data(json!({"spec": spec}))
}

/// The refusal behind an error: code, reason and message.
pub(crate) fn refusal(error: kube::Error) -> (u16, String, String) {
    match error {
        kube::Error::Api(status) => (status.code, status.reason, status.message),
        other => panic!("not a refusal of the API: {other:?}"),
    }
}
