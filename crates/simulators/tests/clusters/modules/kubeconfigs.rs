//! The kubeconfig that a Kyma needs: it has to be the only one, and it has to open the cluster.

use base::Clock;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::json;
use simulators::pace::Speed;

use super::{give_kubeconfig, gone, in_state, make};
use crate::world::{World, namespaced, until};

/// A kubeconfig for a cluster that the landscape does not have: it is believed.
pub(super) const ELSEWHERE: &str = "
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://clusters.example.org'}}]
";

#[tokio::test]
async fn a_kyma_is_ready_only_when_its_kubeconfig_opens_the_cluster() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    world.runtime("inside").await;
    let clusters = world.running.clusters();
    let good = clusters.kubeconfig("inside").unwrap();
    let api = make(&client, "k").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    in_state(&api, "k", "Ready").await;
    let secrets = namespaced::<Secret>(&client, "kcp-system");
    let give = async |text: &str, channel: &str| {
        let change = json!({"stringData": {"config": text}});
        let by = PatchParams::default();
        secrets.patch("kubeconfig-k", &by, &Patch::Merge(&change)).await.unwrap();
        let other = json!({"spec": {"channel": channel}});
        api.patch("k", &by, &Patch::Merge(&other)).await.unwrap();
    };

    for wrong in [
        "no kubeconfig".to_owned(),
        good.replace("/inside", "/gone"),
        good.replace("token: ", "token: x"),
    ] {
        give(&wrong, "fast").await;
        in_state(&api, "k", "Error").await;
        give(&good, "regular").await;
        in_state(&api, "k", "Ready").await;
    }
}

#[tokio::test]
async fn other_modules_are_processed_and_two_kubeconfigs_are_an_error() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    let api = make(&client, "k").await;
    in_state(&api, "k", "Ready").await;

    let other = json!({"spec": {"channel": "fast", "modules": [{"name": "istio"}]}});
    api.patch("k", &PatchParams::default(), &Patch::Merge(&other)).await.unwrap();
    let changed =
        until(&api, "k", |kyma: &DynamicObject| kyma.data["status"]["activeChannel"] == "fast")
            .await;
    give_kubeconfig(&client, "k", "another").await;
    let nowhere = json!({"spec": {"channel": "regular"}});
    api.patch("k", &PatchParams::default(), &Patch::Merge(&nowhere)).await.unwrap();
    let twice = in_state(&api, "k", "Error").await;

    assert_eq!(changed.data["status"]["modules"].as_array().unwrap().len(), 1);
    let said = &twice.data["status"]["lastOperation"]["operation"];
    assert_eq!(said, "more than one access secret found");
}

#[tokio::test]
async fn a_kyma_whose_kubeconfig_is_gone_is_let_go_of_without_cleaning_up() {
    let world = World::at(Clock::running(), Speed::Times(0.01)).await;
    let client = world.client("kcp").await;
    let api = make(&client, "k").await;
    in_state(&api, "k", "Processing").await;

    api.delete("k", &DeleteParams::default()).await.unwrap();

    // At this speed cleaning up would take five minutes.
    tokio::time::timeout(std::time::Duration::from_secs(120), gone(&api, "k")).await.unwrap();
}
