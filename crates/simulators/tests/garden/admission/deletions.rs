//! Deletions of Shoots, which have to be confirmed.

use kube::api::DeleteParams;
use serde_json::json;
use simulators::{garden::CONFIRMATION, pace::Speed};

use crate::support::{Garden, refusal, shoot};

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_confirmed_by_every_word_that_go_reads_as_true() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let confirmed = |word: &str| json!({"metadata": {"annotations": {CONFIRMATION: word}}});

    for word in ["yes", "tRUE", "0", ""] {
        garden.create(&shoot("kept")).await;
        garden.patch("kept", confirmed(word)).await.unwrap();
        let (code, message) = refusal(garden.shoots.delete("kept", &DeleteParams::default()).await);
        garden.delete("kept").await;

        assert_eq!(code, 403, "{word:?}: {message}");
    }
    for word in ["1", "t", "T", "true", "TRUE", "True"] {
        garden.create(&shoot("gone")).await;
        garden.patch("gone", confirmed(word)).await.unwrap();
        let answer = garden.shoots.delete("gone", &DeleteParams::default()).await;

        assert!(answer.is_ok(), "{word}: {answer:?}");
        assert!(garden.shoots.get_opt("gone").await.unwrap().is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_is_deleted_only_when_that_is_confirmed() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    garden.create(&shoot("kept")).await;

    let (code, message) = refusal(garden.shoots.delete("kept", &DeleteParams::default()).await);
    let everything = garden
        .shoots
        .delete_collection(&DeleteParams::default(), &kube::api::ListParams::default())
        .await;
    let wrong =
        json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "yes"}}});
    garden.patch("kept", wrong).await.unwrap();
    let (again, _) = refusal(garden.shoots.delete("kept", &DeleteParams::default()).await);
    garden.delete("kept").await;

    assert_eq!((code, again), (403, 403));
    assert!(message.contains("confirmation.gardener.cloud/deletion"), "{message}");
    assert!(everything.is_err());
    assert!(garden.shoots.get_opt("kept").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wanted_does_not_change_while_a_shoot_is_deleted() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut held = shoot("going");
    held.metadata.finalizers = Some(vec!["example.com/held".to_owned()]);
    garden.create(&held).await;
    garden.delete("going").await;

    let spec = refusal(garden.patch("going", json!({"spec": {"purpose": "testing"}})).await);
    let label = garden.patch("going", json!({"metadata": {"labels": {"a": "b"}}})).await;
    let gone = garden.patch("going", json!({"metadata": {"finalizers": []}})).await;

    assert_eq!(spec.0, 422);
    assert!(spec.1.contains("field is immutable"), "{}", spec.1);
    assert!(label.is_ok() && gone.is_ok());
    assert!(garden.shoots.get_opt("going").await.unwrap().is_none());
}
