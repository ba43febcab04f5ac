//! The fault table of Shoots and their clusters.

use provisioner::{
    requests,
    status::{OperationState, StatusFields},
};
use serde_json::json;

use super::{only_deprovisioning_is_left, order};
use crate::world::{World, aws, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_somebody_deleted_ends_the_operation() {
    let world = World::sqlite().await;
    world.order("gardener", "scenario", &json!({"scenario": "disappear@50"}));

    let failed = world.end_of(&order(&world, "gone").await.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(failed.message.contains("deleted by another client"), "{}", failed.message);
    only_deprovisioning_is_left(&world, &failed, "gone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gardener_refuses_is_not_stored() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("refuse")).await;
    let wanted = requests::UpgradeShoot {
        machine_type: Some("no.such.machine".into()),
        ..requests::UpgradeShoot::default()
    };

    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, wanted).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    let error = failed.last_error.unwrap();
    assert_eq!(
        (error.component.as_str(), error.reason.as_str()),
        ("k8s client - gardener", "Forbidden")
    );
    assert!(error.message.contains("no.such.machine"), "{}", error.message);
    let field = "spec.provider.workers[0].machine.type";
    assert!(error.message.contains(field), "{}", error.message);
    assert!(!error.message.contains("credentials"), "{}", error.message);
    let status = world
        .provisioner
        .runtime_status(&caller(), &made.runtime_id, StatusFields::ALL)
        .await
        .unwrap();
    assert_eq!(status.configuration.cluster.machine_type, "m5.xlarge");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_kubeconfig_is_replaced() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("expired")).await;
    world.landscape.running.install_agent("expired");
    let id = made.runtime_id.parse().unwrap();
    let store = &world.provisioner.parts().store;
    let kept = store.find(id).await.unwrap().unwrap().kubeconfig.unwrap();
    // What is stored looks good for a while, and is not accepted any more.
    let server = world.landscape.running.clusters().server();
    let who = cluster_identity();
    let short = jiff::SignedDuration::from_secs(-60);
    let dead = server.kubeconfig_with_certificate("expired", "expired", &who, short).unwrap();
    let dead = store::provisioner::Kubeconfig { text: dead.into(), until: kept.until };
    store.save_kubeconfig(id, &dead).await.unwrap();

    let begun = world.provisioner.reconnect_agent(&caller(), &made.runtime_id).await.unwrap();

    world.success_of(&begun.id).await;
}

fn cluster_identity() -> cluster::Identity {
    cluster::Identity::admin("kcp-provisioner")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_reached_inside_is_deleted_all_the_same() {
    let limits = provisioner::limits::StageLimits {
        cluster_cleanup: std::time::Duration::from_secs(2),
        uninstall_triggering: std::time::Duration::from_secs(2),
        ..provisioner::limits::StageLimits::default()
    };
    let world = World::on(store::testing::TestDatabase::sqlite(), limits).await;
    let made = world.provisioned(with_kyma("mute", "1.22.0")).await;
    world.order("runtimes", "refuse", &json!({"id": "mute"}));

    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();

    world.success_of(&removed.id).await;
    assert!(world.env().gardener.shoot("mute").await.unwrap().is_none());
}
