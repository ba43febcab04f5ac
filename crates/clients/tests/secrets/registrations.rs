//! Secrets of the availability service, EDP, IAS and LMS appear in no log, no error and no number (C8), whatever the other side does.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use base::Clock;
use base64::{Engine, prelude::BASE64_STANDARD};
use clients::{
    CallLimits, Component, Error, Gate,
    avs::{self, Avs, Tester},
    edp::{self, Edp, Tenant},
    ias::{self, Ias, ProviderKind},
    lms::{self, ClusterType, Lms},
};
use serde_json::json;
use simulators::testing::{Lines, leaked};
use url::Url;

use crate::{CallLog, support::serve};

/// The fourth is `kcp:ias-s3cret` as it goes over the wire.
const SECRETS: [&str; 6] = [
    "avs-passw0rd",
    "edp-s3cret",
    "ias-s3cret",
    "a2NwOmlhcy1zM2NyZXQ=",
    "lms-t0ken",
    "acc3ss-token",
];

/// All that a caller has sent, in the clear.
fn sent(headers: &HeaderMap, body: &str) -> String {
    let mut texts = vec![body.replace('+', " ")];
    for name in ["authorization", "x-lms-token"] {
        let Some(value) = headers.get(name).and_then(|value| value.to_str().ok()) else { continue };
        texts.push(value.to_owned());
        let encoded = value.split(' ').next_back().unwrap_or_default();
        if let Ok(decoded) = BASE64_STANDARD.decode(encoded) {
            texts.push(String::from_utf8_lossy(&decoded).into_owned());
        }
    }
    // What we sent to others, nobody can tell us.
    texts.retain(|text| SECRETS.iter().any(|secret| text.contains(secret)));
    texts.join(" ")
}

/// Answers that repeat what they should not.
fn chatty(number: usize, all: String) -> Response {
    let long = format!("{}{all}", "x".repeat(1_980));
    match number % 6 {
        0 => (StatusCode::BAD_REQUEST, all).into_response(),
        1 => (StatusCode::BAD_REQUEST, Json(json!({"message": all}))).into_response(),
        2 => (StatusCode::BAD_REQUEST, Json(json!({"error": long}))).into_response(),
        3 => Json(json!({"id": [all], "cert": all})).into_response(),
        4 => (StatusCode::UNAUTHORIZED, Json(json!({"message": all}))).into_response(),
        _ => (StatusCode::BAD_GATEWAY, format!("<html>{all}")).into_response(),
    }
}

struct Clients {
    avs: Avs,
    edp: Edp,
    ias: Ias,
    lms: Lms,
}

fn clients(url: &Url, issuer: &Url, told: &CallLog) -> Clients {
    let gate = |component| {
        Gate::observed(component, CallLimits::DEFAULT, Clock::running(), Arc::new(told.clone()))
    };
    let secret = |text: &str| text.to_owned().into();
    let avs = avs::Settings {
        endpoint: url.clone(),
        token_endpoint: issuer.clone(),
        client_id: "kcp".into(),
        user: "kcp".into(),
        password: secret("avs-passw0rd"),
        group_id: 1,
        parent_id: 1,
        internal: Tester::default(),
        external: Tester::default(),
        trial: None,
        tag_classes: None,
    };
    let edp = edp::Settings {
        auth_url: issuer.clone(),
        admin_url: url.clone(),
        namespace: "kcp".into(),
        secret: secret("edp-s3cret"),
        environment: "dev".into(),
    };
    let ias = ias::Settings {
        url: url.clone(),
        user: "kcp".into(),
        secret: secret("ias-s3cret"),
        identity_provider: "people".into(),
    };
    let lms = lms::Settings {
        url: url.clone(),
        token: secret("lms-t0ken"),
        cluster_type: ClusterType::Ha,
        environment: "dev".into(),
        saml_tenant: "saml".into(),
        region: None,
    };
    Clients {
        avs: Avs::new(avs, gate(avs::COMPONENT), gate(Component::ISSUER)).unwrap(),
        edp: Edp::new(edp, gate(edp::COMPONENT), gate(Component::ISSUER)).unwrap(),
        ias: Ias::new(ias, gate(ias::COMPONENT)).unwrap(),
        lms: Lms::new(lms, gate(lms::COMPONENT)).unwrap(),
    }
}

#[tokio::test]
async fn secrets_are_in_no_log_no_error_and_no_number() {
    let lines = Lines::kept();
    let told = CallLog::default();
    let mut texts = Vec::new();
    let token = Json(json!({"access_token": "acc3ss-token"}));
    let good = serve(Router::new().fallback(async || token)).await;
    let (number, repeated) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(String::new())));
    let (count, kept) = (number.clone(), repeated.clone());
    let answer = move |headers: HeaderMap, body: String| async move {
        let all = sent(&headers, &body);
        kept.lock().unwrap().push_str(&all);
        chatty(count.fetch_add(1, Ordering::SeqCst), all)
    };
    let url = serve(Router::new().fallback(answer)).await;

    // An issuer that answers well, and one that repeats what it was sent.
    for issuer in [&good, &url] {
        for _ in 0..12 {
            let all = clients(&url, issuer, &told);
            let tenant = Tenant::of_subaccount("a");
            let callback = url.join("/x").unwrap();
            let errors: [Option<Error>; 7] = [
                all.avs.get(1).await.err(),
                all.avs.unlink(1, 2).await.err(),
                all.edp.create_tenant(&tenant).await.err(),
                all.ias.register(ProviderKind::Grafana, "i").await.err(),
                all.ias.new_secret("i").await.err(),
                all.lms.create_tenant("ga", "eu").await.err(),
                all.lms.signed_certificate(&callback).await.err(),
            ];
            let errors = errors.into_iter().flatten();
            texts.extend(errors.map(|error| {
                format!("{error:?} {} {:?}", base::failure::chain(&error), error.failure())
            }));
            texts.push(format!("{:?} {:?} {:?} {:?}", all.avs, all.edp, all.ias, all.lms));
        }
    }

    assert!(texts.len() > 24 * 5, "most calls fail");
    texts.push(told.0.lock().unwrap().join("\n"));
    texts.push(lines.text());
    assert!(texts.last().unwrap().contains("reading evaluation 1"), "the log was kept");
    assert!(number.load(Ordering::SeqCst) > 24 * 5, "the systems were called");
    let repeated = repeated.lock().unwrap().clone();
    assert!(SECRETS.iter().all(|secret| repeated.contains(secret)), "all of them were repeated");
    assert_eq!(leaked(&texts, &SECRETS), None);
}
