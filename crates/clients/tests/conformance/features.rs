//! What a garden has: read, kept, read again, and used on when it cannot be read.

use std::time::Duration;

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base::Clock;
use clients::{
    CallLimits, Kind,
    gardener::{Features, Field, Gardener},
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

/// A garden of this version, if it publishes one, that answers so when it is asked for the n-th description of anything.
/// It refuses every new Shoot.
async fn answering(
    clock: Clock,
    version: Option<&'static str>,
    by_turn: impl Fn(usize) -> Response + Send + 'static,
) -> Gardener {
    let api = KubeApi::default();
    let mut turns = 0..;
    api.instead(move |heard| {
        if heard.path.starts_with("/openapi") {
            return turns.next().map(&by_turn);
        }
        if heard.path.contains("gardener-info") {
            let info =
                |version| json!({"data": {"gardenerAPIServer": format!("version: {version}\n")}});
            return version.map(|version| Json(info(version)).into_response());
        }
        (heard.method == "POST").then(|| said(422, "Invalid", "spec.region: Unsupported value"))
    });
    let cluster = api.cluster_by(CallLimits::DEFAULT, clock).await;
    Gardener::new(cluster, "kyma", "kcp-provisioner")
}

/// Answers of a garden that does not describe its Shoots: no document, and one without them.
fn undescribed() -> [fn() -> Response; 2] {
    [|| said(404, "NotFound", "not found"), || Json(json!({"definitions": {}})).into_response()]
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

#[tokio::test]
async fn a_garden_that_does_not_describe_shoots_for_a_moment_is_taken_for_what_it_was() {
    for otherwise in undescribed() {
        let clock = Clock::held_at(Timestamp::UNIX_EPOCH);
        let by_turn = move |turn| match turn {
            0 => Json(described(&json!({"structuredAuthentication": {}}))).into_response(),
            _ => otherwise(),
        };
        let garden = answering(clock.clone(), Some("v1.117.0"), by_turn).await;
        let first = garden.features().await.unwrap();
        clock.advance(Duration::from_mins(11));

        let kept = garden.features().await.unwrap();
        garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
        let contradicted = garden.features().await.unwrap_err();

        assert!(first.has(Field::StructuredAuthentication));
        assert_eq!(kept, first);
        assert_eq!(contradicted.kind, Kind::Unavailable);
        assert!(contradicted.to_string().contains("does not describe Shoots"), "{contradicted}");
    }
}

#[tokio::test]
async fn a_garden_that_has_never_described_shoots_is_the_oldest_unless_its_version_is_later() {
    for otherwise in undescribed() {
        for version in [None, Some("v1.65.2"), Some("v1.117.0")] {
            let clock = Clock::held_at(Timestamp::UNIX_EPOCH);
            let garden = answering(clock, version, move |_| otherwise()).await;

            let first = garden.features().await;
            garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
            let again = garden.features().await;

            for found in [first, again] {
                if version == Some("v1.117.0") {
                    assert_eq!(found.unwrap_err().kind, Kind::Unavailable);
                } else {
                    let found = found.unwrap();
                    let fields = Field::ALL.into_iter().filter(|field| found.has(*field));
                    assert_eq!(Features::new(None, fields), Features::oldest());
                    assert_eq!(found.version(), version);
                }
            }
        }
    }
}
