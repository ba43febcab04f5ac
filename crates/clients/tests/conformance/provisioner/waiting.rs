//! Arguments that only our own provisioner knows: limits, and waiting for a change.

use std::time::Duration;

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use clients::{
    CallLimits, Gate, Kind,
    provisioner::{OperationLimits, OperationProgress, OperationState, Provisioner, Settings},
};
use serde_json::json;

use super::{STATUS, TENANT, data, provisioner, status};
use crate::support::{answering, noon};

#[tokio::test]
async fn limits_are_asked_for_and_a_provisioner_that_does_not_know_them_is_no_problem() {
    let longest = json!({"provisioning": 15_300, "upgradeShoot": 6_300, "deprovisioning": 17_700});
    let (knows, journal) = provisioner(move |_| data(&longest)).await;
    let (older, _) = provisioner(|_| {
        let error = json!({
            "message": "Cannot query field \"operationLimits\" on type \"Query\".",
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        });
        let body = json!({"errors": [error], "data": null});
        (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
    })
    .await;
    let (away, _) = provisioner(|_| StatusCode::SERVICE_UNAVAILABLE.into_response()).await;

    let limits =
        OperationLimits { provisioning: 15_300, upgrade_shoot: 6_300, deprovisioning: 17_700 };
    assert_eq!(knows.limits().await.unwrap(), Some(limits));
    let text = "query { result: operationLimits { provisioning upgradeShoot deprovisioning } }";
    assert_eq!(journal.last().json()["query"], text);
    assert_eq!(older.limits().await.unwrap(), None);
    assert_eq!(away.limits().await.unwrap_err().kind, Kind::Unavailable);
}

/// The original provisioner's response to an unknown argument.
fn unknown_argument() -> Response {
    let text =
        "Unknown argument \"waitSeconds\" on field \"runtimeOperationStatus\" of type \"Query\".";
    let body = json!({"errors": [{"message": text}], "data": null});
    (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
}

fn seen() -> OperationProgress {
    let (state, message) = (OperationState::InProgress, Some("m".into()));
    OperationProgress { operation: "o-1".into(), state, message }
}

#[tokio::test]
async fn a_wait_for_a_change_tells_what_was_seen() {
    let (provisioner, heard) = provisioner(|_| data(&status())).await;

    let answer = provisioner.follow(TENANT, &seen(), Duration::from_secs(20)).await.unwrap();

    assert!(!seen().differs(&answer.unwrap()));
    let query = format!(
        "query ($id: String!, $wait: Int, $state: OperationState, $message: String) {{ result: runtimeOperationStatus(id: $id, waitSeconds: $wait, seenState: $state, seenMessage: $message) {STATUS}"
    );
    let variables = json!({"id": "o-1", "wait": 20, "state": "InProgress", "message": "m"});
    assert_eq!(heard.last().json(), json!({"query": query, "variables": variables}));
    assert_eq!(heard.last().header("tenant"), Some("ga"));
}

#[tokio::test]
async fn a_provisioner_that_cannot_wait_is_asked_again_only_after_a_while() {
    let (url, heard) =
        answering(move |number, _| if number < 3 { unknown_argument() } else { data(&status()) })
            .await;
    let clock = noon();
    let gate = || Gate::new(provisioner::COMPONENT, CallLimits::DEFAULT, clock.clone());
    let settings = Settings { url: url.join("/graphql").unwrap(), access: None };
    let provisioner = Provisioner::through(gate(), gate(), &settings).unwrap();
    let follow = async || provisioner.follow(TENANT, &seen(), Duration::from_secs(1)).await;

    for _ in 0..5 {
        assert_eq!(follow().await.unwrap(), None);
    }
    assert_eq!(heard.len(), 1);
    clock.advance(Duration::from_secs(599));
    assert_eq!(follow().await.unwrap(), None);
    assert_eq!(heard.len(), 1);
    clock.advance(Duration::from_secs(2));
    assert_eq!(follow().await.unwrap(), None);
    assert_eq!(heard.len(), 2);
    clock.advance(Duration::from_secs(601));
    assert!(follow().await.unwrap().is_some(), "it has learnt to wait");
}

#[tokio::test]
async fn waits_that_fail_do_not_keep_other_calls_from_a_provisioner() {
    let (url, _) = answering(|_, heard| {
        let waits = heard.body.contains("waitSeconds");
        if waits { StatusCode::BAD_GATEWAY.into_response() } else { data(&status()) }
    })
    .await;
    let gate = || Gate::new(provisioner::COMPONENT, CallLimits::DEFAULT, noon());
    let settings = Settings { url: url.join("/graphql").unwrap(), access: None };
    let provisioner = Provisioner::through(gate(), gate(), &settings).unwrap();

    for _ in 0..20 {
        let failed = provisioner.follow(TENANT, &seen(), Duration::from_secs(1)).await;
        assert_eq!(failed.unwrap_err().kind, Kind::Unavailable);
    }

    provisioner.operation_status(TENANT, "o-1").await.unwrap();
}
