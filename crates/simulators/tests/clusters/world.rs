//! A landscape without delays, its clusters, and ways to speak to both.

use std::{fmt::Debug, path::Path, time::Duration};

use base::Clock;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Namespace, Secret},
    },
};
use kube::{
    Api, Client, Config,
    api::{
        ApiResource, DynamicObject, GroupVersionKind, ObjectMeta, Patch, PatchParams, PostParams,
    },
    config::{KubeConfigOptions, Kubeconfig},
    runtime::wait::await_condition,
};
use reqwest::RequestBuilder;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use simulators::{
    landscape::SCOPES,
    ledger::{Entry, Filter},
    pace::Speed,
    testing::{Options, Running, TENANTS},
    trouble::Rule,
};
use tempfile::TempDir;

pub(crate) const TENANT: &str = TENANTS[0];
/// The project's namespace in the garden.
pub(crate) const PROJECT: &str = "garden-kyma";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) http: reqwest::Client,
    pub(crate) clock: Clock,
    folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(Clock::running(), Speed::MAX).await
    }

    pub(crate) async fn at(clock: Clock, speed: Speed) -> Self {
        Self::open(tempfile::tempdir().unwrap(), clock, speed).await
    }

    async fn open(folder: TempDir, clock: Clock, speed: Speed) -> Self {
        let options = Options { speed, plays_agent: false, ..Options::default() };
        let running = Running::with(folder.path(), clock.clone(), 7, options).await;
        Self { running, http: reqwest::Client::new(), clock, folder }
    }

    /// As after a kill: nothing is finished, everything is read again.
    pub(crate) async fn reopened(self) -> Self {
        self.running.kill().await;
        Self::open(self.folder, self.clock, Speed::MAX).await
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn trouble(&self, rule: Rule) {
        self.running.landscape.troubles().add(rule).unwrap();
    }

    pub(crate) fn lines(&self, system: &str) -> Vec<Entry> {
        let filter = Filter { system: Some(system.into()), ..Filter::default() };
        self.running.landscape.ledger().all(&filter).unwrap()
    }

    /// A client of one cluster.
    pub(crate) async fn client(&self, cluster: &str) -> Client {
        self.client_with(cluster, &[]).await
    }

    /// The same, with headers that go along.
    pub(crate) async fn client_with(&self, cluster: &str, headers: &[(&str, &str)]) -> Client {
        let kubeconfig = self.running.clusters().kubeconfig(cluster).unwrap();
        connect(&kubeconfig, headers).await
    }

    /// A runtime without a Shoot, and a client of it.
    pub(crate) async fn runtime(&self, name: &str) -> Client {
        self.running.clusters().create_runtime(name).unwrap();
        self.client(name).await
    }

    /// The same with a runtime agent.
    pub(crate) async fn runtime_with_agent(&self, name: &str) -> Client {
        let client = self.runtime(name).await;
        install_agent(&client).await;
        client
    }

    pub(crate) fn control(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("{}/landscape{path}", self.running.url);
        let token = self.running.token(&SCOPES);
        self.http.request(method.parse().unwrap(), url).bearer_auth(token)
    }

    pub(crate) async fn order(&self, system: &str, order: &str, with: &Value) -> u16 {
        let path = format!("/systems/{system}/orders/{order}");
        self.control("POST", &path).json(with).send().await.unwrap().status().as_u16()
    }

    pub(crate) async fn objects(&self, system: &str) -> Vec<Value> {
        let path = format!("/systems/{system}/objects");
        let answer: Value = self.control("GET", &path).send().await.unwrap().json().await.unwrap();
        answer["objects"].as_array().unwrap().clone()
    }

    /// Asks the Director.
    pub(crate) async fn director(&self, query: &str, variables: &Value) -> Value {
        let answer = self
            .http
            .post(format!("{}/director/graphql", self.running.url))
            .bearer_auth(self.running.token(&SCOPES))
            .header("tenant", TENANT)
            .json(&json!({"query": query, "variables": variables}));
        let answer: Value = answer.send().await.unwrap().json().await.unwrap();
        assert!(answer["errors"].is_null(), "{answer}");
        answer["data"]["result"].clone()
    }

    /// Registers a runtime that is being provisioned; comes back with its id.
    pub(crate) async fn registered(&self, name: &str) -> String {
        let query =
            "mutation ($in: RuntimeRegisterInput!) { result: registerRuntime(in: $in) { id } }";
        let input = json!({
            "name": name,
            "statusCondition": "PROVISIONING",
            "labels": {"gardenerClusterDomain": format!("{name}.kyma.example.com"), "mine": 1},
        });
        let made = self.director(query, &json!({"in": input})).await;
        made["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn registration(&self, id: &str) -> Value {
        let query = "query ($id: ID!) { result: runtime(id: $id) { labels status { condition } } }";
        self.director(query, &json!({"id": id})).await
    }

    /// A one-time token and the connector's address.
    pub(crate) async fn one_time_token(&self, id: &str) -> (String, String) {
        let query = "mutation ($id: ID!) \
                     { result: requestOneTimeTokenForRuntime(id: $id) { token connectorURL } }";
        let given = self.director(query, &json!({"id": id})).await;
        let text = |key: &str| given[key].as_str().unwrap().to_owned();
        (text("token"), text("connectorURL"))
    }

    /// Gets a token and writes it where the agent looks for it.
    pub(crate) async fn configure(&self, client: &Client, id: &str) -> String {
        let (token, url) = self.one_time_token(id).await;
        for namespace in ["kyma-system", "compass-system"] {
            self.write_configuration(client, namespace, id, &token, &url).await;
        }
        token
    }

    pub(crate) async fn write_configuration(
        &self,
        client: &Client,
        namespace: &str,
        id: &str,
        token: &str,
        url: &str,
    ) {
        ensure_namespace(client, namespace).await;
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "compass-agent-configuration"},
            "stringData": {"CONNECTOR_URL": url, "RUNTIME_ID": id, "TENANT": TENANT, "TOKEN": token},
        });
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let by = PatchParams::apply("provisioner").force();
        secrets.patch("compass-agent-configuration", &by, &Patch::Apply(secret)).await.unwrap();
    }
}

pub(crate) async fn connect(kubeconfig: &str, headers: &[(&str, &str)]) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    config.default_retry = false;
    for (name, value) in headers {
        config.headers.push((name.parse().unwrap(), value.parse().unwrap()));
    }
    Client::try_from(config).unwrap()
}

pub(crate) async fn ensure_namespace(client: &Client, name: &str) {
    let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = Namespace { metadata, ..Namespace::default() };
    let made = namespaces.create(&PostParams::default(), &namespace).await;
    assert!(matches!(made.map_err(code), Ok(_) | Err(409)));
}

/// Brings the Deployment of the runtime agent, as the Reconciler does.
pub(crate) async fn install_agent(client: &Client) {
    ensure_namespace(client, "compass-system").await;
    let name = "compass-runtime-agent";
    let agent = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": name, "image": "agent:1"}]},
            },
        },
    });
    let by = PatchParams::apply("test").force();
    namespaced::<Deployment>(client, "compass-system")
        .patch(name, &by, &Patch::Apply(agent))
        .await
        .unwrap();
}

/// The code of a refusal; 0 if there was none.
#[expect(clippy::needless_pass_by_value, reason = "stands where errors are mapped")]
pub(crate) fn code(error: kube::Error) -> u16 {
    match &error {
        kube::Error::Api(status) => status.code,
        _ => 0,
    }
}

pub(crate) fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

pub(crate) fn namespaced<K>(client: &Client, namespace: &str) -> Api<K>
where
    K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(client.clone(), namespace)
}

pub(crate) fn connections(client: &Client) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk("compass.kyma-project.io", "v1alpha1", "CompassConnection");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "compassconnections");
    Api::all_with(client.clone(), &resource)
}

pub(crate) fn installations(client: &Client) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk("installer.kyma-project.io", "v1alpha1", "Installation");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "installations");
    Api::namespaced_with(client.clone(), "default", &resource)
}

/// Watches an object until it is as expected; comes back with it.
pub(crate) async fn until<K>(api: &Api<K>, name: &str, expected: impl Fn(&K) -> bool) -> K
where
    K: kube::Resource + Clone + Debug + DeserializeOwned + Serialize + Send + 'static,
{
    let waiting =
        await_condition(api.clone(), name, |found: Option<&K>| found.is_some_and(&expected));
    let Ok(found) = tokio::time::timeout(PATIENCE, waiting).await else {
        panic!("{name} did not get there: {:?}", api.get_opt(name).await);
    };
    found.unwrap().unwrap()
}

/// Waits for a state of the agent's connection.
pub(crate) async fn connection_in(client: &Client, state: &str) -> DynamicObject {
    until(&connections(client), "compass-connection", |found| {
        found.data["status"]["connectionState"] == state
    })
    .await
}
