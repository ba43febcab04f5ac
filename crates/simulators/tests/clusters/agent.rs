//! The runtime agent: connects, stays connected, fails, and connects again.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};

use crate::world::{World, connection_in, connections, install_agent, until};

async fn wish(client: &kube::Client, spec: Value) {
    let change = Patch::Merge(json!({"spec": spec}));
    let by = PatchParams::default();
    connections(client).patch("compass-connection", &by, &change).await.unwrap();
}

#[tokio::test]
async fn it_connects_with_a_token_and_tells_the_director() {
    let world = World::new().await;
    let client = world.runtime_with_agent("first").await;
    let id = world.registered("first").await;

    world.configure(&client, &id).await;
    let connection = connection_in(&client, "Synchronized").await;

    let spec = &connection.data["spec"]["managementInfo"];
    assert_eq!(spec["directorUrl"], format!("{}/director/graphql", world.running.url));
    let status = &connection.data["status"];
    for part in ["established", "lastSync", "lastSuccess"] {
        assert!(status["connectionStatus"][part].is_string(), "{part} in {status}");
    }
    assert!(status["connectionStatus"]["certificateStatus"]["notAfter"].is_string());
    assert!(status["synchronizationStatus"]["lastSuccessfulApplication"].is_string());
    let registration = world.registration(&id).await;
    assert_eq!(registration["status"]["condition"], "CONNECTED");
    let labels = &registration["labels"];
    assert_eq!(labels["runtime_consoleUrl"], "https://console.first.kyma.example.com");
    assert_eq!(labels["mine"], 1, "other labels stay");
}

#[tokio::test]
async fn a_token_that_was_used_elsewhere_fails_and_a_new_one_connects() {
    let world = World::new().await;
    let (first, second) =
        (world.runtime_with_agent("first").await, world.runtime_with_agent("second").await);
    let id = world.registered("first").await;
    let token = world.configure(&first, &id).await;
    connection_in(&first, "Synchronized").await;

    let url = format!("{}/connector/graphql", world.running.url);
    world.write_configuration(&second, "compass-system", &id, &token, &url).await;
    let failed = connection_in(&second, "ConnectionFailed").await;
    world.configure(&second, &id).await;
    let connected = connection_in(&second, "Synchronized").await;

    let error = &failed.data["status"]["connectionStatus"]["error"];
    assert!(error.as_str().unwrap().contains("used before"), "{error}");
    assert!(connected.data["status"]["connectionStatus"]["error"].is_null());
}

#[tokio::test]
async fn a_new_token_connects_again() {
    let world = World::new().await;
    let client = world.runtime_with_agent("again").await;
    let id = world.registered("again").await;
    world.configure(&client, &id).await;
    let before = connection_in(&client, "Synchronized").await;
    let established = |object: &kube::api::DynamicObject| {
        object.data["status"]["connectionStatus"]["established"].clone()
    };

    world.configure(&client, &id).await;

    until(&connections(&client), "compass-connection", |found| {
        established(found) != established(&before)
            && found.data["status"]["connectionState"] == "Synchronized"
    })
    .await;
}

#[tokio::test]
async fn wishes_in_its_spec_are_followed_and_taken_off() {
    let world = World::new().await;
    let client = world.runtime_with_agent("wishes").await;
    let id = world.registered("wishes").await;
    world.configure(&client, &id).await;
    connection_in(&client, "Synchronized").await;

    wish(&client, json!({"refreshCredentialsNow": true})).await;
    let renewed = until(&connections(&client), "compass-connection", |found| {
        found.data["status"]["connectionStatus"]["renewed"].is_string()
            && found.data["status"]["connectionState"] == "Synchronized"
    })
    .await;
    let query = "mutation ($id: ID!) { result: setRuntimeLabel\
                 (runtimeID: $id, key: \"runtime_consoleUrl\", value: \"x\") { key } }";
    world.director(query, &json!({"id": id})).await;
    wish(&client, json!({"resyncNow": true})).await;
    until(&connections(&client), "compass-connection", |found| {
        found.data["spec"]["resyncNow"] == false
    })
    .await;

    assert_eq!(renewed.data["spec"]["refreshCredentialsNow"], false);
    let labels = world.registration(&id).await["labels"].clone();
    assert_eq!(labels["runtime_consoleUrl"], "https://console.wishes.kyma.example.com");
}

#[tokio::test]
async fn it_synchronises_as_soon_as_the_director_is_back() {
    let world = World::new().await;
    let client = world.runtime_with_agent("patient").await;
    let id = world.registered("patient").await;
    let (token, url) = world.one_time_token(&id).await;
    world.trouble(Rule::next(1, Kind::Down { refuse: false }).on("POST", "/connector"));
    world.trouble(Rule::next(1, Kind::Status { status: 500, body: None }).on("POST", "/director"));

    world.write_configuration(&client, "kyma-system", &id, &token, &url).await;
    connection_in(&client, "ConnectionFailed").await;
    let failed = connection_in(&client, "SynchronizationFailed").await;
    connection_in(&client, "Synchronized").await;

    let error = &failed.data["status"]["synchronizationStatus"]["error"];
    assert!(error.as_str().unwrap().contains("500"), "{error}");
    assert_eq!(world.registration(&id).await["status"]["condition"], "CONNECTED");
}

#[tokio::test]
async fn an_agent_that_is_disconnected_needs_a_new_token_and_nothing_else() {
    let world = World::new().await;
    let client = world.runtime_with_agent("cut").await;
    let id = world.registered("cut").await;
    world.configure(&client, &id).await;
    connection_in(&client, "Synchronized").await;

    let ordered = world.order("runtimes", "agent-disconnect", &json!({"id": "cut"})).await;
    connection_in(&client, "ConnectionFailed").await;
    world.configure(&client, &id).await;
    connection_in(&client, "Synchronized").await;
    world.order("runtimes", "agent-disconnect", &json!({"id": "cut"})).await;
    connection_in(&client, "ConnectionFailed").await;
    world.configure(&client, &id).await;

    connection_in(&client, "Synchronized").await;
    assert_eq!(ordered, 204);
}

#[tokio::test]
async fn a_runtime_without_kyma_never_connects() {
    let world = World::new().await;
    let client = world.runtime("bare").await;
    let id = world.registered("bare").await;

    world.configure(&client, &id).await;
    world.running.clusters().rest().reached("bare").await;
    let before = connections(&client).get_opt("compass-connection").await.unwrap();
    let condition = world.registration(&id).await["status"]["condition"].clone();
    install_agent(&client).await;
    connection_in(&client, "Synchronized").await;

    assert!(before.is_none(), "{before:?}");
    assert_eq!(condition, "PROVISIONING");
}
