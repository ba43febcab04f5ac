//! A provisioner that repeats whatever it was sent, in every way in which one can. What works never does, and is tried with
//! all that can happen to it where the provisioner itself is tested.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use base::{Clock, Key};
use clients::{
    CallLimits, Component, Gate,
    provisioner::{
        Access, Entry, Kyma, KymaComponent, Provision, Provisioner, Settings, Tenant, Upgrade,
    },
};
use serde_json::json;
use simulators::testing::{Lines, leaked};

use crate::{CallLog, support::serve};

const SECRETS: [&str; 5] = [
    "prov1sioner-client-secret",
    "prov1sioner-token",
    "overr1de-of-a-component",
    "overr1de-of-all",
    "kub3config-of-a-runtime",
];
const KEY: Key = Key::named("order");
const TENANT: Tenant<'_> = Tenant { id: "ga", subaccount: Some("sa") };

/// Answers that repeat what they should not.
fn chatty(number: usize, all: &str) -> Response {
    let refused = |message: &str| {
        let extensions = json!({"error_code": 400, "error_reason": "no"});
        Json(json!({"errors": [{"message": message, "extensions": extensions}]}))
    };
    let long = format!("{}{all}", "x".repeat(1_900 + number));
    let mistyped = json!({"kubeconfig": SECRETS[4], "clusterConfig": all});
    match number % 7 {
        0 => (StatusCode::BAD_REQUEST, all.to_owned()).into_response(),
        1 => refused(all).into_response(),
        2 => refused(&long).into_response(),
        3 => Json(json!({"data": {"result": {"id": [all]}}})).into_response(),
        4 => (StatusCode::UNAUTHORIZED, refused(all)).into_response(),
        5 => (StatusCode::BAD_GATEWAY, format!("<html>{all}")).into_response(),
        _ => Json(json!({"data": {"result": {"runtimeConfiguration": mistyped}}})).into_response(),
    }
}

fn kyma() -> Kyma {
    let entry = |value: &str| Entry {
        key: "password".into(),
        value: value.to_owned().into(),
        secret: true,
    };
    let component =
        KymaComponent { configuration: vec![entry(SECRETS[2])], ..KymaComponent::default() };
    Kyma { components: vec![component], configuration: vec![entry(SECRETS[3])], ..Kyma::default() }
}

#[tokio::test]
async fn whatever_the_provisioner_repeats_is_in_no_log_no_error_and_no_number() {
    let (lines, told) = (Lines::kept(), CallLog::default());
    let issued = Json(json!({"access_token": SECRETS[1]}));
    let issuer = serve(Router::new().fallback(async || issued)).await;
    let number = Arc::new(AtomicUsize::new(0));
    let answer = move |headers: HeaderMap, body: String| async move {
        let token = headers["authorization"].to_str().unwrap().to_owned();
        chatty(number.fetch_add(1, Ordering::SeqCst), &format!("{token} {body}"))
    };
    let url = serve(Router::new().fallback(answer)).await;
    let access = Access {
        token_url: issuer,
        client_id: "kcp".into(),
        client_secret: SECRETS[0].to_owned().into(),
    };
    let settings = Settings { url, access: Some(access) };
    let order = Provision { kyma: Some(kyma()), ..Provision::default() };
    let upgrade = Upgrade { kyma: Some(kyma()), kubernetes_version: None };
    let mut texts = vec![format!("{settings:?} {order:?} {upgrade:?}")];

    for _ in 0..14 {
        // A new one each time: nobody is left alone.
        let gate = |component| {
            let told = Arc::new(told.clone());
            Gate::observed(component, CallLimits::DEFAULT, Clock::running(), told)
        };
        let (gate, tokens) = (gate(Component::PROVISIONER), gate(Component::ISSUER));
        let provisioner = Provisioner::through(gate, tokens, &settings).unwrap();
        let status = provisioner.runtime_status(TENANT, "r").await;
        texts.push(format!("{provisioner:?} {status:?}"));
        let errors = [
            status.err(),
            provisioner.provision(TENANT, KEY, &order).await.err(),
            provisioner.provision_registered(TENANT, KEY, "r", &order).await.err(),
            provisioner.upgrade(TENANT, KEY, "r", &upgrade).await.err(),
            provisioner.deprovision(TENANT, KEY, "r").await.err(),
        ];
        for error in errors.into_iter().flatten() {
            texts.push(format!("{error:?} {} {:?}", base::failure::chain(&error), error.failure()));
        }
    }

    assert!(texts.len() > 70, "most calls fail: {}", texts.len());
    assert!(texts.iter().any(|text| text.contains("Bearer [REDACTED]")), "something was repeated");
    texts.push(told.0.lock().unwrap().join("\n"));
    texts.push(lines.text());
    assert!(texts.last().unwrap().contains("ordering the upgrade of runtime r"), "it was kept");
    assert_eq!(leaked(&texts, &SECRETS), None);
}
