//! Fields of a Shoot: unknown ones stay, wrong ones are named, and what Gardener drops is noticed.

use axum::{Json, http::StatusCode, response::IntoResponse};
use clients::Kind;
use serde_json::json;

use super::{at, garden, shoot};
use crate::kube_api::KubeApi;

#[tokio::test]
async fn unknown_fields_come_back_untouched() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    let written = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {"name": "c-1", "labels": {"account": "ga"}, "finalizers": ["gardener"]},
        "spec": {
            "region": "eu", "newField": {"deep": [1, null, "x"]},
            "kubernetes": {"version": "1.33.1", "kubeAPIServer": {"a": true}},
            "provider": {"type": "aws", "workers": [{"name": "w", "more": 1}], "infrastructureConfig": {"b": 2}},
            "dns": {"domain": "c-1.example", "providers": []},
        },
        "status": {
            "lastOperation": {"type": "Create", "state": "Processing", "progress": 3, "description": "", "lastUpdateTime": "2026-01-01T00:00:00Z"},
            "conditions": [{"type": "x"}], "observedGeneration": 1,
        },
    });
    api.put(&at("c-1"), written.clone());

    let read = garden.shoot("c-1").await.unwrap().unwrap();
    garden.replace(&read).await.unwrap();

    let mut kept = api.get(&at("c-1")).unwrap();
    let meta = kept["metadata"].as_object_mut().unwrap();
    meta.remove("uid");
    meta.remove("resourceVersion");
    assert_eq!(kept, written);
    assert_eq!(garden.replace(&read).await.unwrap_err().kind, Kind::Changed);
    let never_read = garden.replace(&shoot("c-1", "r-1")).await.unwrap_err();
    assert_eq!(never_read.kind, Kind::Refused { status: 400 });
}

#[tokio::test]
async fn a_wrong_type_names_its_field() {
    let api = KubeApi::default();
    api.put(&at("c-1"), json!({"spec": {"kubernetes": {"version": 133}}}));

    let error = garden(&api).await.shoot("c-1").await.unwrap_err();

    assert_eq!(error.kind, Kind::Malformed);
    assert_eq!(error.said.as_deref(), Some("field spec.kubernetes.version"));
}

#[tokio::test]
async fn a_field_that_gardener_does_not_keep_is_a_failure_that_names_it() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    let dropped = || {
        let made = json!({"metadata": {"name": "c-1"}, "spec": {"region": "eu", "networking": {}}});
        let warning = [("warning", r#"299 - "unknown field \"spec.networking.type\"""#)];
        Some((StatusCode::CREATED, warning, Json(made)).into_response())
    };
    api.instead(move |_| dropped());

    let error = garden.create(&shoot("c-1", "r-1")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Dropped);
    assert!(error.to_string().contains("spec.networking.type"), "{error}");

    let patch = json!({"spec": {"networking": {"type": "calico"}, "purpose": null}});
    let error = garden.merge("c-1", &patch).await.unwrap_err();
    assert_eq!(error.kind, Kind::Dropped);
}
