//! What a garden has: read, kept, read again, and used on when it cannot be read.

use std::time::Duration;

use axum::{Json, http::StatusCode, response::IntoResponse};
use base::Clock;
use clients::{
    CallLimits, Kind,
    gardener::{Field, Gardener},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    gardener::shoot,
    kube_api::{KubeApi, said},
};

/// A garden that describes itself so when it is asked for the n-th time, and refuses every new Shoot.
async fn garden(
    clock: Clock,
    by_turn: impl Fn(usize) -> Option<&'static str> + Send + 'static,
) -> (KubeApi, Gardener) {
    let api = KubeApi::default();
    let mut turns = 0..;
    api.instead(move |heard| {
        if heard.path.starts_with("/openapi/v3") {
            let answer = match turns.next().and_then(&by_turn) {
                Some(field) => Json(described(&json!({field: {}}))).into_response(),
                None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            };
            return Some(answer);
        }
        if heard.path.contains("gardener-info") {
            let info = json!({"data": {"gardenerAPIServer": "version: v1.117.0\nother: x\n"}});
            return Some(Json(info).into_response());
        }
        (heard.method == "POST")
            .then(|| said(422, "Invalid", "oidcConfig field is no longer supported"))
    });
    let cluster = api.cluster_by(CallLimits::DEFAULT, clock).await;
    (api, Gardener::new(cluster, "kyma", "kcp-provisioner"))
}

fn described(fields: &Value) -> Value {
    let shoot = json!({
        "x-kubernetes-group-version-kind": [{"group": "core.gardener.cloud", "version": "v1beta1", "kind": "Shoot"}],
        "properties": {"spec": {"properties": {"kubernetes": {"properties": {
            "version": {"type": "string"}, "kubeAPIServer": {"properties": fields},
        }}}}},
    });
    json!({"components": {"schemas": {"Shoot": shoot}}})
}

#[tokio::test]
async fn what_the_garden_has_is_read_once_and_again_after_an_answer_that_contradicts_it() {
    let fields = ["oidcConfig", "structuredAuthentication"];
    let (api, garden) = garden(Clock::running(), move |turn| fields.get(turn).copied()).await;

    let first = garden.features().await.unwrap();
    assert_eq!(first.version(), Some("v1.117.0"));
    assert!(first.has(Field::OidcConfig) && !first.has(Field::StructuredAuthentication));
    garden.features().await.unwrap();
    assert_eq!(api.journal.len(), 2, "one read of the fields, one of the version");

    garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
    let second = garden.features().await.unwrap();
    assert!(!second.has(Field::OidcConfig) && second.has(Field::StructuredAuthentication));
}

#[tokio::test]
async fn a_garden_that_cannot_be_read_again_is_taken_for_what_it_was_unless_that_was_contradicted()
{
    let clock = Clock::held_at(Timestamp::UNIX_EPOCH);
    let (_api, garden) = garden(clock.clone(), |turn| (turn == 0).then_some("oidcConfig")).await;
    garden.features().await.unwrap();
    clock.advance(Duration::from_mins(11));

    let kept = garden.features().await.unwrap();
    garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
    let contradicted = garden.features().await.unwrap_err();

    assert!(kept.has(Field::OidcConfig));
    assert_eq!(contradicted.kind, Kind::Unavailable);
}
