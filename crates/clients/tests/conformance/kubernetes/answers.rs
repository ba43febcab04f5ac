//! What a Kubernetes Status means to the caller.

use std::time::Duration;

use axum::response::IntoResponse;
use clients::{CallLimits, Kind, kubernetes::Objects};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::{MAPS, interruptions::cluster_at, maps};
use crate::{
    kube_api::{KubeApi, status},
    support::{nobody, short},
};

#[tokio::test]
async fn every_status_has_one_meaning() {
    let table = [
        (400, "BadRequest", Kind::Refused { status: 400 }, false),
        (401, "Unauthorized", Kind::Unauthorized, true),
        (403, "Forbidden", Kind::Unauthorized, true),
        (404, "NotFound", Kind::NotFound, false),
        (409, "AlreadyExists", Kind::AlreadyExists, false),
        (409, "Conflict", Kind::Changed, true),
        (410, "Expired", Kind::Changed, true),
        (422, "Invalid", Kind::Refused { status: 422 }, false),
        (429, "TooManyRequests", Kind::Throttled { retry_after: None }, true),
        (500, "InternalError", Kind::Unavailable, true),
        (503, "ServiceUnavailable", Kind::Unavailable, true),
        (504, "Timeout", Kind::Unavailable, true),
    ];

    for (code, reason, kind, retryable) in table {
        let api = KubeApi::default();
        api.instead(move |_| Some(status(code, reason)));
        let maps = maps(&api).await;

        let error = maps.create("one", &json!({"metadata": {"name": "one"}})).await.unwrap_err();

        assert_eq!((error.kind, error.kind.is_retryable()), (kind, retryable), "{code} {reason}");
        assert_eq!(error.failure().reason, reason);
        assert_eq!(&*error.doing, "creating ConfigMap one");
        assert_eq!(api.journal.len(), 1, "{code} is not tried again");
    }
}

#[tokio::test]
async fn a_server_may_ask_to_be_left_alone() {
    let api = KubeApi::default();
    api.instead(|_| {
        let mut answer = status(429, "TooManyRequests");
        answer.headers_mut().insert("retry-after", "9".parse().unwrap());
        Some(answer)
    });

    let error = maps(&api).await.get("one").await.unwrap_err();

    assert_eq!(error.kind, Kind::Throttled { retry_after: Some(Duration::from_secs(9)) });
}

#[tokio::test]
async fn bad_answers_are_failures_and_name_the_field() {
    let endless = "x".repeat(200_000);
    let bodies = [("[", None), ("", None), (endless.as_str(), Some("the body is too large"))];
    for (body, said) in bodies {
        let (api, body) = (KubeApi::default(), body.to_owned());
        api.instead(move |_| Some(body.clone().into_response()));
        let limits = CallLimits { body: 100_000, ..CallLimits::DEFAULT };
        let maps: Objects<Value> = api.cluster(limits).await.objects(MAPS, Some("a"));

        let error = maps.get("one").await.unwrap_err();

        assert_eq!(error.kind, Kind::Malformed);
        assert!(said.is_none() || error.said.as_deref() == said);
    }
    let api = KubeApi::default();
    api.put("/api/v1/namespaces/a/configmaps/one", json!({"data": {"a": 5}}));
    let maps: Objects<ConfigMap> = api.cluster(CallLimits::DEFAULT).await.objects(MAPS, Some("a"));
    assert_eq!(maps.get("one").await.unwrap_err().said.as_deref(), Some("field data.a"));
}

#[tokio::test]
async fn a_lost_answer_and_a_missing_server_are_told_apart() {
    let api = KubeApi::default();
    api.lose(1);
    let cluster = api.cluster(CallLimits::DEFAULT).await;
    let maps: Objects<Value> = cluster.objects(MAPS, Some("a"));
    let error = maps.create("one", &json!({"metadata": {"name": "one"}})).await.unwrap_err();
    assert_eq!(error.kind, Kind::AnswerLost);
    assert!(api.get("/api/v1/namespaces/a/configmaps/one").is_some());

    let maps = cluster_at(&nobody().await, short());
    let error = maps.create("one", &json!({"metadata": {"name": "one"}})).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
}
