//! Shoots that are repeated: adopted when they are the runtime's own, deleted as often as asked, refused for good.

use axum::{Json, response::IntoResponse};
use clients::{
    Kind,
    gardener::{CONFIRMATION_ANNOTATION, Deletion, Shoot},
};
use serde_json::json;

use super::{at, garden, shoot};
use crate::kube_api::{KubeApi, said};

#[tokio::test]
async fn a_shoot_whose_answer_was_lost_is_adopted() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    api.lose(1);

    let first = garden.create(&shoot("c-1", "r-1")).await;
    assert_eq!(first.unwrap_err().kind, Kind::AnswerLost);

    let adopted = garden.create(&shoot("c-1", "r-1")).await.unwrap();
    assert_eq!(
        adopted.metadata.uid.as_deref(),
        api.get(&at("c-1")).unwrap()["metadata"]["uid"].as_str()
    );
}

#[tokio::test]
async fn a_shoot_of_somebody_else_is_not_adopted() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    garden.create(&shoot("c-1", "r-1")).await.unwrap();

    let error = garden.create(&shoot("c-1", "r-2")).await.unwrap_err();
    assert_eq!(error.kind, Kind::AlreadyExists);
    assert_eq!(error.said.as_deref(), Some("it belongs to another runtime"));

    let error = garden.create(&Shoot::named("c-1")).await.unwrap_err();
    assert_eq!(error.kind, Kind::AlreadyExists);
}

#[tokio::test]
async fn a_deletion_is_confirmed_and_can_be_repeated() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    garden.create(&shoot("c-1", "r-1")).await.unwrap();
    // As Gardener does it: refuse without confirmation, then keep the object until all is gone.
    let gardener = api.clone();
    api.instead(move |heard| {
        if heard.method != "DELETE" {
            return None;
        }
        let mut shoot = gardener.get(&heard.path)?;
        if shoot["metadata"]["annotations"][CONFIRMATION_ANNOTATION] != "true" {
            return Some(said(403, "Forbidden", "annotation confirmation.gardener.cloud/deletion"));
        }
        shoot["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        gardener.put(&heard.path, shoot.clone());
        Some(Json(shoot).into_response())
    });

    assert_eq!(garden.delete("c-1").await.unwrap(), Deletion::Going);
    assert_eq!(api.journal.last().json()["preconditions"], json!({"uid": "u1"}));
    let calls = api.journal.len();
    assert_eq!(garden.delete("c-1").await.unwrap(), Deletion::Going);
    assert_eq!(api.journal.len(), calls + 1, "it only looks");
    api.remove(&at("c-1"));
    assert_eq!(garden.delete("c-1").await.unwrap(), Deletion::Gone);
}

#[tokio::test]
async fn a_quota_is_final_and_a_glitch_is_not() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    api.instead(|_| Some(said(403, "Forbidden", "quota limits exceeded. Unable to allocate")));
    let error = garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Refused { status: 403 });

    api.instead(|_| Some(said(403, "Forbidden", "not allowed")));
    let error = garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unauthorized);
}
