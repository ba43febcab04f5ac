//! Refusals of the provisioner, and of what stands before it: what each means to the caller.

use std::time::Duration;

use axum::{
    body::Body,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use clients::{Component, Kind, provisioner::Upgrade};
use serde_json::json;

use super::{KEY, TENANT, data, provisioner, refusal, status};

#[tokio::test]
async fn refusals_are_classified_by_what_known_clients_rely_on() {
    let busy = "cannot start new operation for r Runtime while previous one is in progress";
    let table = [
        (json!(2), "err_db_not_found", "no", Kind::NotFound),
        (json!(400), "err_provisioner_internal", busy, Kind::Busy),
        (json!(400), "err_provisioner_internal", "no", Kind::Refused { status: 400 }),
        (json!(403), "Forbidden", "no", Kind::Refused { status: 403 }),
        (json!(1), "err_db_internal", "no", Kind::Unavailable),
        (json!(500), "err_provisioner_internal", busy, Kind::Unavailable),
        (json!(501), "gardener", "no", Kind::Unavailable),
        (json!(null), "", "no", Kind::Unavailable),
    ];

    for (code, reason, message, kind) in table {
        let (provisioner, _) = provisioner({
            let code = code.clone();
            move |_| refusal(&code, reason, message)
        })
        .await;
        let error = provisioner.upgrade(TENANT, KEY, "r", &Upgrade::default()).await.unwrap_err();
        assert_eq!(error.kind, kind, "{code} {reason}");
        assert_eq!(error.component, Component::PROVISIONER);
        assert_eq!(error.said.as_deref(), Some(message));
    }
}

#[tokio::test]
async fn a_gateway_that_says_when_to_come_back_is_heard_and_strange_answers_are_classified() {
    let wait = Kind::Throttled { retry_after: Some(Duration::from_secs(7)) };
    for (status, kind) in [(429, wait), (503, wait), (504, Kind::Unavailable)] {
        let (provisioner, _) = provisioner(move |_| {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("retry-after", "7")], "<html>").into_response()
        })
        .await;
        let error = provisioner.deprovision(TENANT, KEY, "r").await.unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
    }
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"data":{}}"#,
        r#"{"data":{"result":null}}"#,
        r#"{"data":{"result":7}}"#,
    ] {
        let (provisioner, _) = provisioner(move |_| Response::new(Body::from(body))).await;
        let error = provisioner.deprovision(TENANT, KEY, "r").await.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed, "{body}");
    }
    let (wrong, _) = provisioner(|_| {
        let mut strange = status();
        strange["state"] = json!(3);
        data(&strange)
    })
    .await;
    let named = wrong.operation_status(TENANT, "o").await.unwrap_err();
    assert!(named.to_string().contains("state"), "{named}");
}

#[tokio::test]
async fn a_removal_that_supersedes_says_so_and_is_busy_where_nobody_knows_how() {
    let unknown =
        "Unknown argument \"supersede\" on field \"deprovisionRuntime\" of type \"Mutation\".";
    let (provisioner, heard) = provisioner(move |number| match number {
        1 => data(&json!("o-1")),
        // Some servers say so with a status, some without.
        number => {
            let body = json!({"errors": [{"message": unknown, "locations": [{"line": 1, "column": 27}]}], "data": null});
            let status = if number == 2 { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
            (status, body.to_string()).into_response()
        }
    })
    .await;

    let begun = provisioner.deprovision_superseding(TENANT, KEY, "r-1").await.unwrap();

    assert_eq!(begun, "o-1");
    for _ in 0..2 {
        let error = provisioner.deprovision_superseding(TENANT, KEY, "r-1").await.unwrap_err();
        assert_eq!(error.kind, Kind::Busy, "{error:?}");
    }
    assert_eq!(
        heard.all()[0].json(),
        json!({
            "query": "mutation ($id: String!) { result: deprovisionRuntime(id: $id, supersede: true) }",
            "variables": {"id": "r-1"},
        })
    );
}
