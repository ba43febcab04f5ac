//! Shoots: made once, adopted, changed, deleted on purpose, watched.

use std::time::Duration;

use axum::{Json, http::StatusCode, response::IntoResponse};
use clients::{
    CallLimits, Kind,
    gardener::{
        CONFIRMATION_ANNOTATION, Deletion, Gardener, RUNTIME_ANNOTATION, Shoot, Signal, Signals,
    },
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::kube_api::{KubeApi, said, status};

const ROOT: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-kyma/shoots";

pub(crate) async fn garden(api: &KubeApi) -> Gardener {
    Gardener::new(api.cluster(CallLimits::DEFAULT).await, "kyma", "kcp-provisioner")
}

fn at(name: &str) -> String {
    format!("{ROOT}/{name}")
}

pub(crate) fn shoot(name: &str, runtime: &str) -> Shoot {
    let mut shoot = Shoot::named(name);
    let annotations = shoot.metadata.annotations.get_or_insert_default();
    annotations.insert(RUNTIME_ANNOTATION.into(), runtime.into());
    shoot.spec.region = Some("eu".into());
    shoot.spec.rest.insert("networking".into(), json!({"type": "calico"}));
    shoot
}

#[tokio::test]
async fn requests_are_those_of_gardener() {
    let api = KubeApi::default();
    let garden = garden(&api).await;

    garden.create(&shoot("c-1", "r-1")).await.unwrap();
    garden.shoot("c-1").await.unwrap().unwrap();
    garden.apply("c-1", &json!({"spec": {"purpose": "production"}})).await.unwrap();
    garden.hibernate("c-1", true).await.unwrap();

    let heard: Vec<_> = api
        .journal
        .all()
        .iter()
        .map(|heard| {
            let body = serde_json::from_str(&heard.body).unwrap_or(Value::Null);
            let kind = heard.header("content-type").unwrap().to_owned();
            (format!("{} {}?{}", heard.method, heard.path, heard.query), kind, body)
        })
        .collect();
    let kind = json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot"});
    let with_kind = |mut fields: Value| {
        fields.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        fields
    };
    let owner = "fieldManager=kcp-provisioner&force=true";
    assert_eq!(
        heard,
        [
            (
                format!("POST {ROOT}?"),
                "application/json".into(),
                with_kind(json!({
                    "metadata": {"name": "c-1", "annotations": {RUNTIME_ANNOTATION: "r-1"}},
                    "spec": {"region": "eu", "networking": {"type": "calico"}},
                }))
            ),
            (format!("GET {ROOT}/c-1?"), "application/json".into(), Value::Null),
            (
                format!("PATCH {ROOT}/c-1?{owner}"),
                "application/apply-patch+yaml".into(),
                with_kind(json!({"spec": {"purpose": "production"}}))
            ),
            (
                format!("PATCH {ROOT}/c-1?"),
                "application/merge-patch+json".into(),
                json!({"spec": {"hibernation": {"enabled": true}}})
            ),
        ]
    );
}

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

async fn watching(api: &KubeApi) -> (Gardener, Signals) {
    let garden = garden(api).await;
    let mut signals = garden.signals();
    // The first list is done: from here on changes are told one by one.
    assert_eq!(signals.next().await, Some(Signal::Any));
    watched(api).await;
    (garden, signals)
}

async fn watched(api: &KubeApi) {
    while api.watchers() == 0 {
        tokio::task::yield_now().await;
    }
}

fn typed() -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot"})
}

#[tokio::test]
async fn one_watch_tells_everyone_what_changed() {
    let api = KubeApi::default();
    let (garden, first) = watching(&api).await;
    let mut listeners = [first, garden.signals(), garden.clone().signals()];

    api.put(&at("c-1"), typed());
    api.remove(&at("c-1"));

    for listener in &mut listeners {
        assert_eq!(listener.next().await, Some(Signal::Shoot("c-1".into())));
        assert_eq!(listener.next().await, Some(Signal::Shoot("c-1".into())));
    }
    let watches = api.journal.all().into_iter().filter(|heard| heard.query.contains("watch=true"));
    assert_eq!(watches.count(), 1);
}

#[tokio::test]
async fn a_watch_that_was_cut_begins_again() {
    let api = KubeApi::default();
    let (_garden, mut signals) = watching(&api).await;

    api.cut_watches();
    watched(&api).await;
    api.put(&at("c-2"), typed());

    assert_eq!(signals.next().await, Some(Signal::Shoot("c-2".into())));
}

#[tokio::test]
async fn a_gap_in_the_watch_is_told_as_any() {
    let api = KubeApi::default();
    let (_garden, mut signals) = watching(&api).await;

    api.expire_watches();

    assert_eq!(signals.next().await, Some(Signal::Any));
}

#[tokio::test]
async fn a_watch_ends_with_its_last_client() {
    let api = KubeApi::default();
    let (garden, mut signals) = watching(&api).await;

    drop(garden);

    assert_eq!(signals.next().await, None);
}

#[tokio::test]
async fn calls_can_be_made_from_any_thread() {
    let api = KubeApi::default();
    let garden = garden(&api).await;

    let made = tokio::spawn(async move {
        garden.create(&shoot("c-1", "r-1")).await?;
        let pool = garden.pool(clients::gardener::BindingKind::Secret);
        let wanted = clients::gardener::AccountNeed { hyperscaler: "aws", eu_access: false };
        let claimed = pool.claim("ga", wanted).await;
        assert_eq!(claimed.unwrap_err().kind, Kind::NotFound);
        garden.delete("c-1").await
    });

    assert_eq!(made.await.unwrap().unwrap(), Deletion::Going);
}
