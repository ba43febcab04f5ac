//! `adminkubeconfig`: opens the cluster of a Shoot, and ends.

use std::time::Duration;

use base::Clock;
use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Value, json};
use simulators::{garden, pace::Speed};

use crate::support::{Garden, connect, refusal, shoot};

async fn ask(garden: &Garden, name: &str, spec: Value) -> Result<Value, kube::Error> {
    let body = json!({
        "apiVersion": "authentication.gardener.cloud/v1alpha1",
        "kind": "AdminKubeconfigRequest",
        "spec": spec,
    });
    let path = format!(
        "/apis/core.gardener.cloud/v1beta1/namespaces/{}/shoots/{name}/adminkubeconfig",
        garden.settings.namespace()
    );
    let request = http::Request::post(path).header("content-type", "application/json");
    garden.client.request(request.body(serde_json::to_vec(&body).unwrap()).unwrap()).await
}

fn opened(answer: &Value) -> String {
    let encoded = answer["status"]["kubeconfig"].as_str().unwrap();
    String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap()
}

fn until(answer: &Value) -> Timestamp {
    answer["status"]["expirationTimestamp"].as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_opens_the_runtime_of_the_shoot_until_it_expires() {
    // The machine's time, because certificates are checked by it too.
    let clock = Clock::held_at(Clock::running().now());
    let garden = Garden::with(Speed::MAX, clock.clone(), garden::catalog).await;
    let _controller = garden.controller();
    garden.create(&shoot("opened")).await;
    garden.until_healthy("opened").await;

    let answer = ask(&garden, "opened", json!({"expirationSeconds": 600})).await.unwrap();
    let kubeconfig = opened(&answer);
    let before = connect(&kubeconfig).await.apiserver_version().await;
    clock.advance(Duration::from_secs(599));
    let just = connect(&kubeconfig).await.list_core_api_versions().await;
    clock.advance(Duration::from_secs(2));
    let after = connect(&kubeconfig).await.list_core_api_versions().await;

    assert!(kubeconfig.contains("garden-kyma--opened-external"), "{kubeconfig}");
    assert!(kubeconfig.contains("/clusters/opened"));
    assert_eq!(answer["kind"], "AdminKubeconfigRequest");
    assert_eq!(before.unwrap().major, "1");
    assert!(just.is_ok());
    assert_eq!(refusal(after).0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn its_life_has_a_default_a_least_and_a_most() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let _controller = garden.controller();
    garden.create(&shoot("lives")).await;
    garden.until_healthy("lives").await;
    let seconds = |answer: &Value| until(answer).duration_since(garden.clock.now()).as_secs();

    let default = ask(&garden, "lives", json!({})).await.unwrap();
    let day = ask(&garden, "lives", json!({"expirationSeconds": 1_000_000})).await.unwrap();
    let short = refusal(ask(&garden, "lives", json!({"expirationSeconds": 599})).await);
    let long = refusal(ask(&garden, "lives", json!({"expirationSeconds": 1_u64 << 33})).await);
    let missing = refusal(ask(&garden, "nobody", json!({})).await);

    assert!((3_590..=3_600).contains(&seconds(&default)), "{default}");
    assert!((86_390..=86_400).contains(&seconds(&day)), "{day}");
    assert_eq!((short.0, long.0, missing.0), (422, 422, 404));
    assert!(short.1.contains("less than 10 minutes"), "{}", short.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_none_before_the_addresses_are_announced() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("early")).await;

    let (code, message) = refusal(ask(&garden, "early", json!({})).await);

    assert_eq!(code, 422);
    assert!(message.contains("no suitable advertised address"), "{message}");
}
