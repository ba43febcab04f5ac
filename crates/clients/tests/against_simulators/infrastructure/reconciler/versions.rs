//! Configurations of a cluster: their versions, their rounds, and lost answers.

use std::time::Duration;

use clients::{
    Kind,
    reconciler::{Cluster, Status},
};
use secrecy::ExposeSecret;
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{super::world::World, cluster_in};

#[tokio::test]
async fn a_cluster_is_reconciled_and_removed() {
    let world = World::new().await;
    let client = world.reconciler();
    client.check().await.unwrap();

    let applied = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();
    let version = applied.configuration_version;
    let status = async || client.status("r-1", version).await.unwrap().map(|state| state.status);
    assert_eq!(applied.status, Status::ReconcilePending);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(status().await, Some(Status::Reconciling));
    world.clock.advance(Duration::from_secs(4));
    assert_eq!(status().await, Some(Status::Ready));
    client.delete_cluster("r-1").await.unwrap();
    client.delete_cluster("r-1").await.unwrap();
    assert_eq!(status().await, Some(Status::DeletePending));
    world.clock.advance(Duration::from_mins(1));

    assert_eq!(status().await, None);
    assert_eq!(client.latest_status("r-1").await.unwrap(), None);
    client.delete_cluster("r-1").await.unwrap();
}

#[tokio::test]
async fn an_answer_that_was_lost_costs_no_second_version() {
    for kind in [Trouble::LostAnswer { status: None }, Trouble::LostAnswer { status: Some(502) }] {
        let world = World::new().await;
        let client = world.reconciler();
        world.trouble("reconciler", "POST", 1, kind);

        let first = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap_err();
        let again = client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();

        assert!(matches!(first.kind, Kind::AnswerLost | Kind::Unavailable), "{first}");
        assert_eq!((again.cluster_version, again.configuration_version), (1, 1));
        let kept = world.objects("reconciler", "cluster").await;
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].1["configurations"], json!([1]));
    }
}

#[tokio::test]
async fn versions_grow_with_what_they_count() {
    let world = World::new().await;
    let client = world.reconciler();
    let mut asked = cluster_in(&world, "r-1");
    let versions = async |asked: &Cluster| {
        let state = client.apply_cluster(asked).await.unwrap();
        (state.cluster_version, state.configuration_version)
    };

    assert_eq!(versions(&asked).await, (1, 1));
    assert_eq!(versions(&asked).await, (1, 1));
    asked.kyma_config.version = "2.11".into();
    assert_eq!(versions(&asked).await, (1, 2));
    asked.kubeconfig = format!("{}# other\n", asked.kubeconfig.expose_secret()).into();
    assert_eq!(versions(&asked).await, (2, 2));
    assert_eq!(versions(&cluster_in(&world, "r-2")).await, (3, 3));
}

#[tokio::test]
async fn failing_rounds_look_like_work_until_it_works_or_gives_up() {
    let world = World::new().await;
    let client = world.reconciler();
    let failures = json!([{"component": "istio", "reason": "no pods"}]);
    world
        .order("reconciler", "fail-rounds", json!({"id": "r-1", "rounds": 2, "failures": failures}))
        .await;
    world.order("reconciler", "fail", json!({"id": "r-2", "failures": failures})).await;
    let first =
        client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap().configuration_version;
    let second =
        client.apply_cluster(&cluster_in(&world, "r-2")).await.unwrap().configuration_version;

    world.clock.advance(Duration::from_secs(6));

    let working = client.status("r-1", first).await.unwrap().unwrap();
    assert_eq!(
        (working.status, working.failures[0].component.as_str()),
        (Status::Reconciling, "istio")
    );
    let failed = client.status("r-2", second).await.unwrap().unwrap();
    assert_eq!((failed.status, failed.failures[0].reason.as_str()), (Status::Error, "no pods"));
    world.clock.advance(Duration::from_mins(1));
    let ready = client.status("r-1", first).await.unwrap().unwrap();
    assert_eq!((ready.status, ready.failures.len()), (Status::Ready, 0));
}
