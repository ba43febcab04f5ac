//! What operators do to a cluster in the Reconciler: keep it off, let a deletion stick, read its rounds.

use std::time::Duration;

use clients::{
    Kind,
    reconciler::{ReconciliationFilter, Status},
};
use serde_json::json;

use super::{super::world::World, cluster_in};

#[tokio::test]
async fn a_cluster_that_is_kept_off_stays_so_when_it_is_applied() {
    let world = World::new().await;
    let client = world.reconciler();
    client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();

    client.force_status("r-1", &Status::ReconcileDisabled).await.unwrap();
    let again = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();

    assert_eq!(again.status, Status::ReconcileDisabled);
    let history = client.status_changes("r-1", Duration::from_hours(1)).await.unwrap();
    assert_eq!(history.first().unwrap().status, Status::ReconcilePending);
    assert_eq!(history.last().unwrap().status, Status::ReconcileDisabled);
}

#[tokio::test]
async fn a_deletion_can_stick_or_give_up() {
    let world = World::new().await;
    let client = world.reconciler();
    for id in ["r-1", "r-2", "r-3"] {
        client.apply_cluster(&cluster_in(&world, id)).await.unwrap();
    }
    world.order("reconciler", "stick-deletion", json!({"id": "r-1"})).await;
    world.order("reconciler", "fail-deletions", json!({"id": "r-2"})).await;
    world.order("reconciler", "fail-deletions", json!({"id": "r-3", "rounds": 2})).await;
    for id in ["r-1", "r-2", "r-3"] {
        client.delete_cluster(id).await.unwrap();
    }

    world.clock.advance(Duration::from_hours(1));

    let status = async |id| client.latest_status(id).await.unwrap().map(|state| state.status);
    assert_eq!(status("r-1").await, Some(Status::Deleting));
    assert_eq!(status("r-2").await, Some(Status::DeleteError));
    assert_eq!(status("r-3").await, None);
}

#[tokio::test]
async fn operators_see_rounds_and_what_is_kept() {
    let world = World::new().await;
    let client = world.reconciler();
    let version =
        client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap().configuration_version;
    world.clock.advance(Duration::from_mins(1));

    let rounds = client.reconciliations(&ReconciliationFilter::default()).await.unwrap();
    assert_eq!((rounds.len(), rounds[0].status.as_str()), (1, "ready"));
    let id = &rounds[0].scheduling_id;
    let info = client.reconciliation(id).await.unwrap();
    let correlation = info["operations"][0]["correlationID"].as_str().unwrap();
    assert_eq!(info["operations"][0]["component"], "btp-operator");
    client.debug_reconciliation(id).await.unwrap();
    let late = client.stop_operation(id, correlation, "no more").await.unwrap_err();
    assert_eq!(late.kind, Kind::Unauthorized);
    let says = client.configuration("r-1", version).await.unwrap();
    assert_eq!(says["version"], "2.10");
    assert!(!says.to_string().contains("s3tting-secret"));
    let kept = client.cluster_state("r-1").await.unwrap();
    assert_eq!(kept["status"]["status"], "ready");
    client.forget_reconciliations("r-1").await.unwrap();
    assert!(client.reconciliations(&ReconciliationFilter::default()).await.unwrap().is_empty());
}
