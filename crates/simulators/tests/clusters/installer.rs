//! The Kyma installer: from a release's file to an installed, upgraded and removed Kyma.

mod failures;

use std::process::Stdio;

use futures::StreamExt;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace},
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams},
    runtime::{
        wait::{await_condition, conditions::is_deleted},
        watcher::watch_object,
    },
};
use serde_json::json;
use simulators::pace::Speed;
use tokio::{io::AsyncWriteExt, process::Command};

use crate::world::{World, installations, namespaced, until};

const NAME: &str = "kyma-installation";

async fn artifact(world: &World, version: &str, file: &str) -> (u16, String) {
    let url = format!("{}/kyma-releases/{version}/{file}", world.running.url);
    let answer = world.http.get(url).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// `kubectl apply` of a release's file.
async fn apply(world: &World, runtime: &str, version: &str) {
    let (status, text) = artifact(world, version, "kyma-installer-cluster.yaml").await;
    assert_eq!(status, 200);
    let kubeconfig = world.folder().join("kubeconfig.yaml");
    std::fs::write(&kubeconfig, world.running.clusters().kubeconfig(runtime).unwrap()).unwrap();
    let mut kubectl = Command::new("kubectl")
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["apply", "-f", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    kubectl.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
    let done = kubectl.wait_with_output().await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

async fn act(client: &Client, action: &str) {
    let change = Patch::Merge(json!({"metadata": {"labels": {"action": action}}}));
    installations(client).patch(NAME, &PatchParams::default(), &change).await.unwrap();
}

async fn installed(client: &Client, version: &str) -> kube::api::DynamicObject {
    until(&installations(client), NAME, |found| {
        found.data["status"]["state"] == "Installed"
            && found.data["status"]["kymaVersion"] == version
    })
    .await
}

#[tokio::test]
async fn releases_are_there_or_not() {
    let world = World::new().await;

    for (version, file, expected) in [
        ("1.24.11", "kyma-installer-cluster.yaml", 200),
        ("main-0a1b2c", "kyma-installer-cluster.yaml", 200),
        ("PR-1234", "kyma-installer-cluster.yaml", 200),
        ("0.0.1", "kyma-installer-cluster.yaml", 404),
        ("1.24.11", "tiller.yaml", 404),
    ] {
        assert_eq!(artifact(&world, version, file).await.0, expected, "{version}/{file}");
    }
}

#[tokio::test]
async fn a_release_says_where_the_chart_of_the_btp_operator_is() {
    let world = World::new().await;

    let (status, text) = artifact(&world, "2.10.0", "kyma-components.yaml").await;

    assert_eq!(status, 200);
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    let components = list["components"].as_array().unwrap();
    let operator = components.iter().find(|it| it["name"] == "btp-operator").unwrap();
    assert!(operator["source"]["url"].as_str().unwrap().contains("/btp-operator"), "{operator}");
}

#[tokio::test]
async fn kyma_is_installed_upgraded_and_removed() {
    let world = World::new().await;
    let client = world.runtime("kyma").await;
    apply(&world, "kyma", "1.20.0").await;
    let mut map = crate::world::map("global-installer-config");
    map.metadata.labels = Some([("installer".to_owned(), "overrides".to_owned())].into());
    let overrides = namespaced::<ConfigMap>(&client, "kyma-installer");
    overrides.create(&kube::api::PostParams::default(), &map).await.unwrap();

    act(&client, "install").await;
    let first = installed(&client, "1.20.0").await;
    let deployments = namespaced::<Deployment>(&client, "kyma-installer");
    deployments.delete("kyma-installer", &DeleteParams::default()).await.unwrap();
    apply(&world, "kyma", "1.24.11").await;
    act(&client, "install").await;
    installed(&client, "1.24.11").await;
    let uid = first.metadata.uid.clone().unwrap();
    act(&client, "uninstall").await;
    await_condition(installations(&client), NAME, is_deleted(&uid)).await.unwrap();

    assert_eq!(first.data["status"]["overrides"], json!(["global-installer-config"]));
    let namespaces: Api<Namespace> = Api::all(client);
    assert!(namespaces.get_opt("istio-system").await.unwrap().is_some());
}

#[tokio::test]
async fn at_a_watchable_speed_every_component_is_shown() {
    let world = World::at(base::Clock::running(), Speed::Times(100.0)).await;
    let client = world.runtime("shown").await;
    apply(&world, "shown", "1.20.0").await;
    let events = watch_object(installations(&client), NAME);
    let mut events = std::pin::pin!(events);
    // The watch has begun before there is anything to miss.
    until(&installations(&client), NAME, |_| true).await;
    events.next().await.unwrap().unwrap();

    act(&client, "install").await;
    let mut seen: Vec<String> = Vec::new();
    while seen.last().is_none_or(|last| last != "Kyma installed") {
        let found = events.next().await.unwrap().unwrap().unwrap();
        seen.extend(found.data["status"]["description"].as_str().map(str::to_owned));
    }

    seen.dedup();
    assert_eq!(seen.len(), 15, "{seen:?}");
    assert_eq!(seen[1], "Install component istio");
    assert_eq!(seen[14], "Kyma installed");
}
