//! Secrets appear in no log, no error and no number (C8), whatever the other side does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use base::Clock;
use clients::{
    CallLimits, Component, Gate, Grant, Http, TokenSource,
    director::Director,
    gardener::Gardener,
    kubernetes::{Cluster, Objects, Resource},
};
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use simulators::testing::{Lines, leaked};

use crate::{CallLog, support::serve};

const SECRETS: [&str; 4] = ["client-s3cret", "acc3ss-token", "one-t1me", "kub3config-token"];

/// Answers that repeat what they should not.
fn chatty(number: usize) -> Response {
    let all = SECRETS.join(" ");
    match number % 5 {
        0 => (StatusCode::BAD_REQUEST, all).into_response(),
        1 => Json(json!({"data": {"result": {"token": 5, "connectorURL": all}}})).into_response(),
        2 => (StatusCode::BAD_GATEWAY, format!("<html>{all}")).into_response(),
        3 => Json(json!({"data": {"a": [all]}, "status": {"kubeconfig": "kub3config-token"}}))
            .into_response(),
        _ => {
            (StatusCode::UNAUTHORIZED, Json(json!({"message": "bad acc3ss-token"}))).into_response()
        }
    }
}

#[tokio::test]
async fn secrets_are_in_no_log_no_error_and_no_number() {
    let lines = Lines::kept();
    let told = CallLog::default();
    let gate = |component| {
        Gate::observed(component, CallLimits::DEFAULT, Clock::running(), Arc::new(told.clone()))
    };
    let mut texts = Vec::new();

    let issued = Json(json!({"access_token": "acc3ss-token"}));
    let issuer = serve(Router::new().fallback(async || issued)).await;
    let authorized = Arc::new(AtomicUsize::new(0));
    let (counter, number) = (authorized.clone(), AtomicUsize::new(0));
    let number = Arc::new(number);
    let answer = move |headers: HeaderMap| async move {
        counter.fetch_add(usize::from(headers.contains_key("authorization")), Ordering::SeqCst);
        chatty(number.fetch_add(1, Ordering::SeqCst))
    };
    let url = serve(Router::new().fallback(answer)).await;
    let grant = Grant::ClientCredentials {
        id: "kcp".into(),
        secret: "client-s3cret".to_owned().into(),
        scope: String::new(),
    };
    let tokens = TokenSource::new(issuer, grant, Clock::running()).unwrap();
    let http = Http::through(gate(Component::DIRECTOR), url.clone()).unwrap();
    let director = Director::new(http.clone().with_token(tokens.clone()));
    let plain = http.with_token(tokens.clone());
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": "kub3config-token"}}],
    });
    let cluster =
        Cluster::connect(gate(Component::GARDENER), &kubeconfig.to_string().into()).await.unwrap();
    let secrets: Objects<Secret> = cluster.objects(Resource::core("Secret", "secrets"), Some("a"));
    let gardener = Gardener::new(cluster.clone(), "kyma", "kcp");
    for _ in 0..5 {
        let answers = [
            director.one_time_token("ga", "r").await.err(),
            plain
                .send("trying it", plain.get("/a"))
                .await
                .and_then(|a| a.json::<Vec<Value>>())
                .err(),
            secrets.get("one").await.err(),
            gardener.admin_kubeconfig("c-1", Duration::from_hours(1)).await.err(),
        ];
        let answers = answers.into_iter().flatten();
        texts.extend(answers.map(|error| format!("{error:?} {}", base::failure::chain(&error))));
    }

    texts.push(format!("{director:?} {plain:?} {tokens:?} {cluster:?} {gardener:?}"));
    texts.push(told.0.lock().unwrap().join("\n"));
    texts.push(lines.text());
    assert!(texts.last().unwrap().contains("reading Secret one"), "the log was kept");
    assert!(authorized.load(Ordering::SeqCst) > 5, "tokens were sent");
    assert_eq!(leaked(&texts, &SECRETS), None);
}
