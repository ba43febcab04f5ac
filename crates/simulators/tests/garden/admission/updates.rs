//! Changes of a Shoot: generations, merges and conflicts.

use kube::{
    ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use simulators::{garden::OPERATION, pace::Speed};

use crate::support::{Garden, refusal, shoot};

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_counts_a_generation_only_in_the_state_it_is_for() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("counted")).await;
    let annotate = |value: Value| json!({"metadata": {"annotations": {OPERATION: value}}});
    let ask = async |state: Option<&str>, operation: &str| {
        if let Some(state) = state {
            let last = json!({"type": "Create", "state": state, "progress": 100});
            let status = Patch::Merge(json!({"status": {"lastOperation": last}}));
            garden.shoots.patch_status("counted", &PatchParams::default(), &status).await.unwrap();
        }
        let before = garden.shoots.get("counted").await.unwrap().metadata.generation.unwrap();
        let after = garden.patch("counted", annotate(json!(operation))).await.unwrap();
        let stays = after.annotations().contains_key(OPERATION);
        let counted = after.metadata.generation.unwrap() - before;
        garden.patch("counted", annotate(Value::Null)).await.unwrap();
        (counted, stays)
    };

    let table = [
        (None, "reconcile", (0, true)),
        (Some("Succeeded"), "reconcile", (1, false)),
        (Some("Succeeded"), "retry", (0, true)),
        (Some("Succeeded"), "maintain", (0, true)),
        (Some("Succeeded"), "rotate-ssh-keypair", (1, true)),
        (Some("Failed"), "reconcile", (0, true)),
        (Some("Failed"), "retry", (1, false)),
    ];
    for (state, operation, expected) in table {
        assert_eq!(ask(state, operation).await, expected, "{operation} in {state:?}");
    }
    for operation in ["foo", "Reconcile", "rotate-ca-complete"] {
        let (code, message) = refusal(garden.patch("counted", annotate(json!(operation))).await);
        assert_eq!(code, 422, "{message}");
        assert!(message.contains("metadata.annotations[gardener.cloud/operation]"), "{message}");
    }
    let other = json!({"metadata": {"annotations": {"note": "x"}}});
    let before = garden.shoots.get("counted").await.unwrap().metadata.generation;
    assert_eq!(garden.patch("counted", other).await.unwrap().metadata.generation, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn strategic_merges_go_through_workers_by_name() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("merged")).await;
    let worker = json!({"name": "cpu-worker-0", "maximum": 12});
    let patch = Patch::Strategic(json!({"spec": {"provider": {"workers": [worker]}}}));

    let merged = garden.shoots.patch("merged", &PatchParams::default(), &patch).await.unwrap();

    let workers = merged.data["spec"]["provider"]["workers"].as_array().unwrap().clone();
    assert_eq!(workers.len(), 1);
    assert_eq!(workers[0]["maximum"], 12);
    assert_eq!(workers[0]["machine"]["type"], "m5.xlarge");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_replacement_is_a_conflict() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let made = garden.create(&shoot("raced")).await;
    let mut changed = made.clone();
    changed.data["spec"]["purpose"] = json!("testing");

    garden.shoots.replace("raced", &PostParams::default(), &changed).await.unwrap();
    let (code, _) = refusal(garden.shoots.replace("raced", &PostParams::default(), &made).await);

    assert_eq!(code, 409);
}
