//! Killed and started again, the clusters are there. That what lives in them carries on is tested with
//! the whole program, whose ports stay the same.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;

use crate::world::{World, map, namespaced};

#[tokio::test]
async fn objects_runtimes_and_kubeconfigs_survive() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.runtime("kept").await, "default");
    maps.create(&PostParams::default(), &map("kept")).await.unwrap();

    let world = world.reopened().await;

    let maps = namespaced::<ConfigMap>(&world.client("kept").await, "default");
    assert!(maps.get_opt("kept").await.unwrap().is_some());
    assert_eq!(world.running.clusters().server().clusters(), ["garden", "kcp", "kept"]);
}
