//! Answers of the Reconciler: every state is understood, and one for another runtime is not believed.

use axum::{Json, response::IntoResponse};
use clients::{CallLimits, Kind, reconciler::Status};
use serde_json::json;

use super::{
    super::{
        payload::cluster,
        support::{answering, noon},
        world::{World, reconciler},
    },
    cluster_in, state,
};

#[tokio::test]
async fn what_the_reconciler_may_say_is_understood() {
    let world = World::new().await;
    let client = world.reconciler();
    world.order("reconciler", "null-failures", json!({"on": true})).await;
    client.apply_cluster(&cluster_in(&world, "r-1")).await.unwrap();
    world.order("reconciler", "show-status", json!({"id": "r-1", "status": "resting"})).await;

    let state = client.latest_status("r-1").await.unwrap().unwrap();

    assert_eq!((state.status, state.failures.len()), (Status::Other("resting".into()), 0));
}

#[tokio::test]
async fn an_answer_for_another_runtime_is_not_believed() {
    let (url, _) = answering(|_, _| Json(state("r-2")).into_response()).await;
    let client = reconciler(url, CallLimits::DEFAULT, &noon());

    assert_eq!(client.apply_cluster(&cluster("r-1")).await.unwrap_err().kind, Kind::Malformed);
    assert_eq!(client.latest_status("r-1").await.unwrap_err().kind, Kind::Malformed);
}

#[tokio::test]
async fn a_wrong_type_names_the_field() {
    let (url, _) = answering(|_, _| {
        let mut state = state("r-1");
        state["configurationVersion"] = json!("hunter2");
        Json(state).into_response()
    })
    .await;

    let error =
        reconciler(url, CallLimits::DEFAULT, &noon()).latest_status("r-1").await.unwrap_err();

    assert_eq!(
        (error.kind, error.said.as_deref()),
        (Kind::Malformed, Some("field configurationVersion"))
    );
}

#[tokio::test]
async fn hostile_ids_stay_one_segment() {
    let world = World::new().await;
    let client = world.reconciler();
    let long = "ü".repeat(500);

    for id in ["a/b?c#d", "\"quoted\\\"", "new\nline", "%2e%2e", long.as_str()] {
        client.apply_cluster(&cluster_in(&world, id)).await.unwrap();
        assert_eq!(client.latest_status(id).await.unwrap().unwrap().cluster, id);
        client.delete_cluster(id).await.unwrap();
    }
    for id in ["", ".", ".."] {
        assert_eq!(
            client.delete_cluster(id).await.unwrap_err().kind,
            Kind::Refused { status: 400 }
        );
    }
}

#[tokio::test]
async fn what_cannot_be_applied_is_refused_for_good() {
    let world = World::new().await;
    let client = world.reconciler();
    let mut large = cluster_in(&world, "r-1");
    large.kyma_config.administrators = vec!["x".repeat(100_001)];
    world.order("reconciler", "refuse-kubeconfig", json!({"id": "r-2"})).await;

    for asked in [large, cluster_in(&world, "r-2")] {
        let error = client.apply_cluster(&asked).await.unwrap_err();
        assert_eq!(error.kind, Kind::Refused { status: 400 });
        assert!(error.said.is_some());
    }
    assert!(world.objects("reconciler", "cluster").await.is_empty());
}
