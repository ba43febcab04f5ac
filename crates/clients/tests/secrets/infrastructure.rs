//! Secrets of the four systems appear in no log, no error and no number, whatever the other side does.

use std::sync::Arc;

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base::Clock;
use clients::{
    CallLimits, Component, Gate,
    aws::{self, Aws},
    azure::{self, Azure, Cloud, Credentials},
    cis::{self, Entitlements},
    reconciler::{self, Reconciler},
};
use serde_json::json;
use simulators::testing::{Lines, leaked};

use crate::{CallLog, payload::cluster, support::answering};

const SECRETS: [&str; 7] = [
    "kub3config-token-long",
    "s3tting-secret",
    "cis-client-s3cret",
    "azure-client-s3cret",
    "aws-access-s3cret",
    "acc3ss-token",
    "conn3ction-string",
];

/// Answers that repeat what they should not.
fn chatty(number: usize, path: &str) -> Response {
    let all = SECRETS.join(" ");
    // A system repeats only what it was sent.
    let said = match path {
        "/v1/clusters" => "refused: token: kub3config-token-long and s3tting-secret",
        path if path.starts_with("/v1/") => "refused",
        _ => "refused: token: acc3ss-token",
    };
    let error = json!({"error": {"code": "Bad", "message": said}, "message": said});
    let xml = "<Response><Errors><Error><Code>Bad</Code><Message>aws-access-s3cret</Message>\
               </Error></Errors></Response>";
    match number % 6 {
        0 => (StatusCode::BAD_REQUEST, all).into_response(),
        1 => (StatusCode::BAD_GATEWAY, format!("<html>{all}")).into_response(),
        2 => Json(json!({"cluster": all, "amount": all, "value": all})).into_response(),
        3 => (StatusCode::BAD_REQUEST, Json(error)).into_response(),
        4 => Json(json!({"primaryConnectionString": "conn3ction-string"})).into_response(),
        _ => (StatusCode::BAD_REQUEST, xml).into_response(),
    }
}

#[tokio::test]
async fn secrets_are_in_no_log_no_error_and_no_number() {
    let lines = Lines::kept();
    let told = CallLog::default();
    let gate = |component: Component| {
        Gate::observed(component, CallLimits::DEFAULT, Clock::running(), Arc::new(told.clone()))
    };
    let (issuer, _) =
        answering(|_, _| Json(json!({"access_token": "acc3ss-token"})).into_response()).await;
    let (url, _) = answering(|number, heard| chatty(number, &heard.path)).await;
    let tokens = gate(Component::ISSUER);
    let reconciler_settings = reconciler::Settings { url: url.clone() };
    let reconciler =
        Reconciler::through(gate(reconciler::COMPONENT), &reconciler_settings).unwrap();
    let cis_settings = cis::Settings {
        url: url.clone(),
        token_url: issuer.clone(),
        client_id: "kcp".into(),
        client_secret: "cis-client-s3cret".to_owned().into(),
        page_size: 10,
    };
    let cis = Entitlements::through(gate(cis::COMPONENT), tokens.clone(), &cis_settings).unwrap();
    let azure_settings = azure::Settings {
        cloud: Cloud { authority: issuer, management: url.clone() },
        credentials: Credentials {
            subscription_id: "sub".into(),
            tenant_id: "tenant".into(),
            client_id: "client".into(),
            client_secret: "azure-client-s3cret".to_owned().into(),
        },
    };
    let azure = Azure::through(gate(azure::COMPONENT), tokens, &azure_settings).unwrap();
    let aws_settings = aws::Settings {
        access_key_id: "AKIA".into(),
        secret_access_key: "aws-access-s3cret".to_owned().into(),
        endpoint: Some(url),
    };
    let aws = Aws::through(gate(aws::COMPONENT), aws_settings.clone());
    let payload = cluster("r-1");
    let mut texts = Vec::new();

    for _ in 0..12 {
        let keys = azure.keys("group", "namespace").await;
        texts.push(format!("{keys:?}"));
        let errors = [
            reconciler.apply_cluster(&payload).await.err(),
            cis.amount("aws", "sa").await.err(),
            keys.err(),
            aws.volumes("eu-west-1").await.err(),
            reconciler.latest_status("r-1").await.err(),
        ];
        let errors = errors.into_iter().flatten();
        texts.extend(errors.map(|error| format!("{error:?} {}", base::failure::chain(&error))));
    }

    texts.push(format!("{reconciler:?} {cis:?} {azure:?} {aws:?} {payload:?}"));
    texts.push(format!("{cis_settings:?} {azure_settings:?} {aws_settings:?}"));
    texts.push(told.0.lock().unwrap().join("\n"));
    texts.push(lines.text());
    assert!(texts.iter().any(|text| text.contains("refused: token: [REDACTED]")), "{texts:?}");
    assert!(texts.last().unwrap().contains("applying the configuration"), "the log was kept");
    assert_eq!(leaked(&texts, &SECRETS), None);
}
