//! A furnished garden on a socket of its own, or on the API server that `KUBECONFIG` names.

use std::{env, sync::Arc, time::Duration};

use base::Clock;
use cluster::{Catalog, Server};
use futures::{StreamExt, TryStreamExt};
use kube::{
    Api, Client, Config,
    api::{
        ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent,
        WatchParams,
    },
    config::{KubeConfigOptions, Kubeconfig},
    core::GroupVersionKind,
    runtime::wait::await_condition,
};
use serde_json::{Value, json};
use simulators::{
    garden::{self, CONFIRMATION, Controller, Settings},
    pace::{Pace, Speed},
    testing::elsewhere,
};
use tempfile::TempDir;

use crate::runtimes::RecordedClusters;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(180);

/// Gardens that have this definition may be used for tests.
const DEFINITION: &str = "shoots.core.gardener.cloud";

pub(crate) struct Garden {
    pub(crate) client: Client,
    pub(crate) shoots: Api<DynamicObject>,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) pace: Pace,
    pub(crate) runtimes: Arc<RecordedClusters>,
    server: Option<Server>,
    folder: TempDir,
}

impl Garden {
    /// One on our own server, whose admission is Gardener's; nothing if the tests run elsewhere.
    pub(crate) async fn ours(speed: Speed) -> Option<Self> {
        if elsewhere(DEFINITION).await.is_some() {
            eprintln!("not run: this is about our own API server, and KUBECONFIG names another");
            return None;
        }
        Some(Self::own(speed).await)
    }

    /// One on our own server that plays a version of Gardener.
    pub(crate) async fn of_version(version: garden::Version, speed: Speed) -> Option<Self> {
        Self::playing(Settings { version, ..small() }, speed).await
    }

    /// The same without the webhooks of the providers' extensions.
    pub(crate) async fn bare(version: garden::Version, speed: Speed) -> Option<Self> {
        Self::playing(Settings { version, webhooks: false, ..small() }, speed).await
    }

    async fn playing(settings: Settings, speed: Speed) -> Option<Self> {
        if elsewhere(DEFINITION).await.is_some() {
            eprintln!("not run: this is about our own API server, and KUBECONFIG names another");
            return None;
        }
        let garden = Self::empty_with(speed, Clock::running(), settings, garden::catalog).await;
        garden::furnish(&garden.client, &garden.settings).await.unwrap();
        Some(garden)
    }

    async fn own(speed: Speed) -> Self {
        Self::with(speed, Clock::running(), garden::catalog).await
    }

    /// One on our own server or on the one that the environment names.
    pub(crate) async fn anywhere(speed: Speed) -> Self {
        let Some(client) = elsewhere(DEFINITION).await else {
            return Self::own(speed).await;
        };
        let project = format!("t{:05x}", fastrand::u32(..) & 0xf_ffff);
        let settings = Settings { project, ..small() };
        garden::furnish(&client, &settings).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self::of(client, None, settings, Clock::running(), speed, folder)
    }

    /// One on our own server with any catalog, on a clock that may be held.
    pub(crate) async fn with(
        speed: Speed,
        clock: Clock,
        catalog: impl FnOnce(Catalog, &Settings) -> Catalog,
    ) -> Self {
        let garden = Self::empty(speed, clock, catalog).await;
        garden::furnish(&garden.client, &garden.settings).await.unwrap();
        garden
    }

    /// The same with nothing in it.
    pub(crate) async fn empty(
        speed: Speed,
        clock: Clock,
        catalog: impl FnOnce(Catalog, &Settings) -> Catalog,
    ) -> Self {
        Self::empty_with(speed, clock, small(), catalog).await
    }

    async fn empty_with(
        speed: Speed,
        clock: Clock,
        settings: Settings,
        catalog: impl FnOnce(Catalog, &Settings) -> Catalog,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = cluster::Settings::new(folder.path());
        server.history = cluster::History { changes: 200_000, bytes: usize::MAX };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let catalog = catalog(Catalog::default(), &settings);
        let server =
            Server::start(server, clock.clone(), catalog, listener, |router| router).await.unwrap();
        server.create_cluster(garden::CLUSTER).unwrap();
        let client = connect(&server.kubeconfig(garden::CLUSTER, "tester").unwrap()).await;
        Self::of(client, Some(server), settings, clock, speed, folder)
    }

    fn of(
        client: Client,
        server: Option<Server>,
        settings: Settings,
        clock: Clock,
        speed: Speed,
        folder: TempDir,
    ) -> Self {
        let runtimes = Arc::new(RecordedClusters::on(server.clone()));
        let shoots = Api::namespaced_with(client.clone(), &settings.namespace(), &shoot_resource());
        Self { client, shoots, settings, clock, pace: Pace::new(speed), runtimes, server, folder }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn controller(&self) -> Controller {
        Controller::start(
            self.client.clone(),
            self.runtimes.clone(),
            self.settings.clone(),
            self.clock.clone(),
            self.pace.clone(),
        )
    }

    pub(crate) async fn create(&self, shoot: &DynamicObject) -> DynamicObject {
        self.shoots.create(&PostParams::default(), shoot).await.unwrap()
    }

    /// Creates one that must be refused; says with which code and in which words.
    pub(crate) async fn refused(&self, shoot: &DynamicObject) -> (u16, String) {
        refusal(self.shoots.create(&PostParams::default(), shoot).await)
    }

    pub(crate) async fn patch(
        &self,
        name: &str,
        patch: Value,
    ) -> Result<DynamicObject, kube::Error> {
        self.shoots.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await
    }

    /// Confirms and deletes.
    pub(crate) async fn delete(&self, name: &str) {
        let confirmed = json!({"metadata": {"annotations": {CONFIRMATION: "true"}}});
        self.patch(name, confirmed).await.unwrap();
        self.shoots.delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until a Shoot is as it should be.
    pub(crate) async fn until(&self, name: &str, is: impl Fn(&Value) -> bool) -> Value {
        let found = |object: Option<&DynamicObject>| object.is_some_and(|one| is(&whole(one)));
        let waiting = await_condition(self.shoots.clone(), name, found);
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(found) => whole(&found.unwrap().unwrap()),
            Err(late) => {
                panic!("{late}: {name} stays {:#}", whole(&self.shoots.get(name).await.unwrap()))
            }
        }
    }

    pub(crate) async fn until_healthy(&self, name: &str) -> Value {
        self.until(name, |shoot| is_settled(shoot) && health(shoot) == "healthy").await
    }

    pub(crate) async fn until_gone(&self, name: &str) {
        let gone = |object: Option<&DynamicObject>| object.is_none();
        let waiting = await_condition(self.shoots.clone(), name, gone);
        tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
    }

    /// The version of all Shoots now, from which a watch can begin.
    pub(crate) async fn version(&self) -> String {
        let list = self.shoots.list(&kube::api::ListParams::default()).await.unwrap();
        list.metadata.resource_version.unwrap()
    }

    /// Every event from a version on, until `last` says that there will be no more.
    pub(crate) async fn events(
        &self,
        version: String,
        mut last: impl FnMut(&str, &Value) -> bool,
    ) -> Vec<(String, Value)> {
        let mut events = Vec::new();
        self.follow(version, |what, object| {
            let is_last = last(&what, &object);
            events.push((what, object));
            is_last
        })
        .await;
        events
    }

    /// The same, with nothing kept but what `take` keeps.
    pub(crate) async fn follow(&self, version: String, take: impl FnMut(String, Value) -> bool) {
        let patience = PATIENCE * if env::var_os("KCP_SHOOTS").is_some() { 15 } else { 1 };
        let following = self.follow_for_ever(version, take);
        tokio::time::timeout(patience, following).await.expect("more events must come");
    }

    async fn follow_for_ever(
        &self,
        mut version: String,
        mut take: impl FnMut(String, Value) -> bool,
    ) {
        loop {
            let parameters = WatchParams::default().timeout(200);
            let mut stream = self.shoots.watch(&parameters, &version).await.unwrap().boxed();
            while let Some(event) = stream.try_next().await.unwrap() {
                let (what, object) = match event {
                    WatchEvent::Added(object) => ("ADDED", object),
                    WatchEvent::Modified(object) => ("MODIFIED", object),
                    WatchEvent::Deleted(object) => ("DELETED", object),
                    WatchEvent::Bookmark(_) => continue,
                    WatchEvent::Error(error) => panic!("{error:?}"),
                };
                version = object.metadata.resource_version.clone().unwrap();
                if take(what.to_owned(), whole(&object)) {
                    return;
                }
            }
        }
    }
}

/// A pool that is made quickly.
fn small() -> Settings {
    let mut settings = Settings::default();
    settings.pool.free = 2;
    settings.pool.eu = 1;
    settings
}

pub(crate) async fn connect(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    Client::try_from(config).unwrap()
}

pub(crate) fn shoot_resource() -> ApiResource {
    let kind = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", "Shoot");
    ApiResource::from_gvk_with_plural(&kind, "shoots")
}

/// A Shoot as our provisioner would write it.
pub(crate) fn shoot(name: &str) -> DynamicObject {
    let networks = json!({"vpc": {"cidr": "10.250.0.0/16"}, "zones": [{
        "name": "eu-central-1a", "internal": "10.250.48.0/20", "public": "10.250.32.0/20",
        "workers": "10.250.0.0/19",
    }]});
    let config = |kind: &str| json!({"kind": kind, "apiVersion": "aws.provider.extensions.gardener.cloud/v1alpha1"});
    let mut infrastructure = config("InfrastructureConfig");
    infrastructure["networks"] = networks;
    DynamicObject::new(name, &shoot_resource()).data(json!({"spec": {
        "cloudProfileName": "aws",
        "region": "eu-central-1",
        "secretBindingName": "aws-free-1",
        "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
        "kubernetes": {"version": "1.25.6"},
        "maintenance": {"autoUpdate": {"kubernetesVersion": false, "machineImageVersion": false}},
        "provider": {
            "type": "aws",
            "controlPlaneConfig": config("ControlPlaneConfig"),
            "infrastructureConfig": infrastructure,
            "workers": [{
                "name": "cpu-worker-0", "machine": {"type": "m5.xlarge"}, "minimum": 3, "maximum": 10,
                "maxSurge": 3, "maxUnavailable": 0, "volume": {"type": "gp3", "size": "50Gi"},
                "zones": ["eu-central-1a"],
            }],
        },
    }}))
}

/// The same with a scenario.
pub(crate) fn scripted(name: &str, scenario: &str) -> DynamicObject {
    let mut shoot = shoot(name);
    let annotation = (garden::SCENARIO.to_owned(), scenario.to_owned());
    shoot.metadata.annotations = Some([annotation].into());
    shoot
}

pub(crate) fn whole(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap()
}

/// Type, state and progress of the last operation.
pub(crate) fn last(shoot: &Value) -> Option<(String, String, i64)> {
    let last = &shoot["status"]["lastOperation"];
    let word = |key: &str| last[key].as_str().map(str::to_owned);
    Some((word("type")?, word("state")?, last["progress"].as_i64()?))
}

pub(crate) fn state(shoot: &Value) -> &str {
    shoot["status"]["lastOperation"]["state"].as_str().unwrap_or_default()
}

pub(crate) fn is_settled(shoot: &Value) -> bool {
    state(shoot) == "Succeeded"
        && shoot["status"]["observedGeneration"] == shoot["metadata"]["generation"]
}

pub(crate) fn health(shoot: &Value) -> &str {
    shoot["metadata"]["labels"]["shoot.gardener.cloud/status"].as_str().unwrap_or_default()
}

/// Code and message of what must have been refused.
pub(crate) fn refusal<T: std::fmt::Debug>(answer: Result<T, kube::Error>) -> (u16, String) {
    match answer.unwrap_err() {
        kube::Error::Api(status) => (status.code, status.message),
        other => panic!("not a refusal of the API: {other:?}"),
    }
}
