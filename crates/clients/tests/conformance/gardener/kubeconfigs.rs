//! Kubeconfigs of runtimes, requested from the Shoot with their lifetime.

use std::time::Duration;

use axum::{Json, http::StatusCode, response::IntoResponse};
use clients::Kind;
use secrecy::ExposeSecret;
use serde_json::json;

use super::{ROOT, at, garden};
use crate::kube_api::{KubeApi, status};

#[tokio::test]
async fn an_admin_kubeconfig_is_asked_for_with_its_lifetime() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    api.instead(|_| {
        let status = json!({
            "kubeconfig": "YXBpVmVyc2lvbjogdjEK", "expirationTimestamp": "2026-01-02T10:00:00Z",
        });
        Some((StatusCode::CREATED, Json(json!({"status": status}))).into_response())
    });

    let admin = garden.admin_kubeconfig("c-1", Duration::from_hours(8)).await.unwrap();

    assert_eq!(admin.kubeconfig.expose_secret(), "apiVersion: v1\n");
    assert_eq!(admin.until, "2026-01-02T10:00:00Z".parse().unwrap());
    let heard = api.journal.last();
    assert_eq!(heard.path, format!("{ROOT}/c-1/adminkubeconfig"));
    assert_eq!(
        heard.json(),
        json!({
            "apiVersion": "authentication.gardener.cloud/v1alpha1",
            "kind": "AdminKubeconfigRequest",
            "spec": {"expirationSeconds": 28_800},
        })
    );
    api.instead(|_| Some(status(422, "Invalid")));
    let error = garden.admin_kubeconfig("c-1", Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Refused { status: 422 });
    api.instead(|_| Some(Json(json!({"status": {"kubeconfig": "", "expirationTimestamp": "2026-01-02T10:00:00Z"}})).into_response()));
    let error = garden.admin_kubeconfig("c-1", Duration::from_hours(8)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Malformed);
}

#[tokio::test]
async fn an_admin_kubeconfig_that_is_not_found_while_the_shoot_is_there_is_not_there_yet() {
    let api = KubeApi::default();
    let garden = garden(&api).await;
    let asked =
        async || garden.admin_kubeconfig("c-1", Duration::from_hours(8)).await.unwrap_err().kind;
    api.instead(|heard| {
        let body = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound",
            "message": r#"shoots.core.gardener.cloud "c-1" not found"#, "details": {"name": "c-1"},
        });
        let refused = || (StatusCode::NOT_FOUND, Json(body)).into_response();
        heard.path.ends_with("/adminkubeconfig").then(refused)
    });

    assert_eq!(asked().await, Kind::NotFound);

    api.put(&at("c-1"), json!({"metadata": {}, "spec": {}}));
    assert_eq!(asked().await, Kind::Unavailable);
}
