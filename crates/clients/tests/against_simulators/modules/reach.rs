//! Whether the clusters can be reached and know us, and that dropping a call leaves nothing behind.

use std::time::Duration;

use clients::{CallLimits, Component, Gate, Kind, kubernetes::Cluster};
use simulators::trouble::{self, Rule};

use super::world::{NAMESPACE, World, marks};

#[tokio::test]
async fn a_cluster_that_is_there_tells_its_version_and_has_the_kind() {
    let world = World::new().await;

    world.modules().await.check().await.unwrap();
    let version = world.cluster("kcp", World::limits()).await.version().await.unwrap();

    assert!(version.starts_with('v'), "{version}");
    assert_eq!(world.running.landscape.ledger().sums("control-plane").applied, 0);
}

#[tokio::test]
async fn a_cluster_that_does_not_know_us_says_so() {
    let world = World::new().await;
    let kubeconfig = world.running.clusters().control_plane_kubeconfig();
    let status = trouble::Kind::Status { status: 401, body: None };
    let rule = Rule::next(1, status).of("control-plane").on("GET", "/clusters/kcp/version");
    world.running.landscape.troubles().add(rule).unwrap();
    let gate = Gate::new(Component::CONTROL_PLANE, World::limits(), world.clock.clone());
    let cluster = Cluster::connect(gate, &kubeconfig.into()).await.unwrap();

    assert_eq!(cluster.version().await.unwrap_err().kind, Kind::Unauthorized);
    cluster.version().await.unwrap();
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    let world = World::new().await;
    let modules = world.modules().await;
    let mut large = marks(&[]);
    large.annotations.insert("x".into(), "y".repeat(100_000));
    let secret = "x".to_owned().into();
    modules.write_kubeconfig("k", &secret, &large).await.unwrap();
    let limits = CallLimits { body: 10_000, ..World::limits() };
    let cluster = world.cluster("kcp", limits).await;
    let modules = clients::lifecycle_manager::LifecycleManager::new(
        cluster,
        NAMESPACE,
        clients::lifecycle_manager::Version::default(),
    );

    let refused = modules.find_kubeconfig("k").await.unwrap_err();

    assert_eq!(refused.kind, Kind::Malformed, "{refused:?}");
}

#[tokio::test]
async fn a_dropped_call_leaves_no_half_written_state_and_the_turn_is_free() {
    let world = World::new().await;
    let limits = CallLimits { at_once: 1, ..World::limits() };
    let cluster = world.cluster("kcp", limits).await;
    let modules = clients::lifecycle_manager::LifecycleManager::new(
        cluster,
        NAMESPACE,
        clients::lifecycle_manager::Version::default(),
    );
    let rule = Rule::next(1, trouble::Kind::Silent).of("control-plane").on("POST", "/clusters");
    world.running.landscape.troubles().add(rule).unwrap();
    let (secret, none) = ("x".to_owned().into(), marks(&[]));

    let call = modules.write_kubeconfig("k", &secret, &none);
    let dropped = tokio::time::timeout(Duration::from_millis(500), call).await;
    let without = world.kubeconfigs();
    world.running.landscape.troubles().clear(None).unwrap();
    modules.write_kubeconfig("k", &secret, &none).await.unwrap();

    assert!(dropped.is_err());
    assert_eq!((without, world.kubeconfigs()), (0, 1));
}
