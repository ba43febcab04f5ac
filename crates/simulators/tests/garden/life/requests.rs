//! What a client asks of a Shoot during its life: hibernation, operations, kubeconfigs.

use serde_json::{Value, json};
use simulators::{garden, pace::Speed};

use super::{QUICK, operations};
use crate::support::{Garden, is_settled, shoot, state};

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_hibernates_and_wakes() {
    let garden = Garden::anywhere(QUICK).await;
    let _controller = garden.controller();
    garden.create(&shoot("sleepy")).await;
    garden.until_healthy("sleepy").await;
    let enabled = |enabled: bool| json!({"spec": {"hibernation": {"enabled": enabled}}});

    garden.patch("sleepy", enabled(true)).await.unwrap();
    let asleep = garden.until("sleepy", |s| s["status"]["hibernated"] == true).await;
    let reachable_asleep = garden.runtimes.is_reachable("sleepy");
    garden.patch("sleepy", enabled(false)).await.unwrap();
    let awake =
        garden.until("sleepy", |s| s["status"]["hibernated"] == false && is_settled(s)).await;

    assert!(!reachable_asleep && garden.runtimes.is_reachable("sleepy"));
    assert_eq!(state(&asleep), "Succeeded");
    assert_eq!(asleep["status"]["constraints"][0]["type"], "HibernationPossible");
    assert_eq!(state(&awake), "Succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_sleeps_is_not_reachable_after_a_restart_either() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let controller = garden.controller();
    garden.create(&shoot("dozing")).await;
    garden.until_healthy("dozing").await;
    garden.patch("dozing", json!({"spec": {"hibernation": {"enabled": true}}})).await.unwrap();
    garden.until("dozing", |s| s["status"]["hibernated"] == true && is_settled(s)).await;
    controller.stop().await;
    simulators::garden::Runtimes::set_reachable(&*garden.runtimes, "dozing", true);

    let _again = garden.controller();
    // Something that only the new controller does, and only after it has seen the Shoot.
    garden.patch("dozing", json!({"spec": {"purpose": "testing"}})).await.unwrap();
    garden.until("dozing", is_settled).await;

    assert!(!garden.runtimes.is_reachable("dozing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_can_be_asked_for_by_annotation() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let _controller = garden.controller();
    garden.create(&shoot("asked")).await;
    garden.until_healthy("asked").await;
    let version = garden.version().await;

    let reconcile = json!({"metadata": {"annotations": {"gardener.cloud/operation": "reconcile"}}});
    garden.patch("asked", reconcile).await.unwrap();
    let done = |shoot: &Value| {
        is_settled(shoot)
            && shoot["metadata"]["annotations"]["gardener.cloud/operation"].is_null()
            && shoot["status"]["lastOperation"]["type"] == "Reconcile"
    };
    let events = garden.events(version, |_, shoot| done(shoot)).await;

    assert!(operations(&events).contains(&("Reconcile".into(), "Processing".into(), 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_kubeconfig_is_handed_out_where_it_is_asked_for_and_taken_back() {
    let Some(garden) = Garden::of_version(garden::Version::V1_65, Speed::MAX).await else { return };
    let _controller = garden.controller();
    let mut wanted = shoot("static");
    wanted.data["spec"]["kubernetes"]["enableStaticTokenKubeconfig"] = json!(true);
    garden.create(&wanted).await;
    garden.until_healthy("static").await;
    let secrets: kube::Api<k8s_openapi::api::core::v1::Secret> =
        kube::Api::namespaced(garden.client.clone(), &garden.settings.namespace());

    let secret = secrets.get("static.kubeconfig").await.unwrap();
    let kubeconfig = String::from_utf8(secret.data.unwrap()["kubeconfig"].0.clone()).unwrap();
    let version = crate::support::connect(&kubeconfig).await.apiserver_version().await.unwrap();
    garden.delete("static").await;
    garden.until_gone("static").await;

    assert_eq!(version.major, "1");
    assert!(secrets.get_opt("static.kubeconfig").await.unwrap().is_none());
}
