//! What Gardener warns of: counted with every answer, and handed on with those that are no refusal.

use std::sync::Arc;

use axum::{Json, http::StatusCode, response::IntoResponse};
use base::Clock;
use clients::{
    CallLimits, Component, Gate,
    gardener::{Deletion, Gardener},
};
use serde_json::json;

use crate::{
    gardener::{garden, shoot},
    kube_api::{KubeApi, status},
    support::CallLog,
};

/// A garden whose warnings are counted, and their number so far.
async fn counting(api: &KubeApi) -> (Gardener, impl Fn() -> usize) {
    let calls = CallLog::default();
    let observer = Arc::new(calls.clone());
    let gate = Gate::observed(Component::GARDENER, CallLimits::DEFAULT, Clock::running(), observer);
    let garden = Gardener::new(api.cluster_through(gate).await, "kyma", "kcp-provisioner");
    (garden, move || calls.all().iter().filter(|line| *line == "gardener warned").count())
}

#[tokio::test]
async fn warnings_of_gardener_come_with_the_shoot_and_are_counted() {
    let api = KubeApi::default();
    let (garden, warned) = counting(&api).await;
    garden.shoot("c-1").await.unwrap();
    assert_eq!(warned(), 0);
    api.instead(|_| {
        let made = json!({"metadata": {"name": "c-1"}, "spec": {"region": "eu", "networking": {"type": "calico"}}});
        let warning = [("warning", r#"299 - "you are setting an old field""#)];
        Some((StatusCode::CREATED, warning, Json(made)).into_response())
    });

    let made = garden.create(&shoot("c-1", "r-1")).await.unwrap();

    assert_eq!(made.warnings, ["you are setting an old field"]);
    assert_eq!(warned(), 1);
}

#[tokio::test]
async fn warnings_that_come_with_a_refusal_are_counted_too() {
    let api = KubeApi::default();
    let (garden, warned) = counting(&api).await;
    for (at, code) in [422, 403, 400].into_iter().enumerate() {
        api.instead(move |_| {
            let warning = [("warning", r#"299 - "you are setting an old field""#)];
            Some((warning, status(code, "Invalid")).into_response())
        });

        garden.create(&shoot("c-1", "r-1")).await.unwrap_err();

        assert_eq!(warned(), at + 1, "{code}");
    }
}

#[tokio::test]
async fn what_gardener_warns_of_when_a_shoot_is_deleted_comes_with_the_answer() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    let there = || json!({"metadata": {"name": "c-1", "uid": "u-1"}, "spec": {}});
    api.instead(move |heard| {
        let text = format!("299 - \"{} of an old Shoot\"", heard.method);
        let warning = [("warning", text)];
        Some((StatusCode::OK, warning, Json(there())).into_response())
    });

    let (deletion, warnings) = garden.delete_warned("c-1", Some("u-1")).await.unwrap();

    assert_eq!(deletion, Deletion::Going);
    assert_eq!(warnings, ["PATCH of an old Shoot", "DELETE of an old Shoot"]);
}
