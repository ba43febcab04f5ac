//! The duties of a broker about changes that are refused, or that come while something else runs.

use axum::body::Body;
use serde_json::{Value, json};

use super::{AZURE, CONCURRENT, INSTANCE, change, get, made, patch};
use crate::{
    conformance::{send, status},
    real::SERVICE,
    service::{HINTS, WAITING},
};

#[tokio::test]
async fn u1_u6_u7_a_change_that_is_refused_leaves_everything_as_it_was() {
    let real = made().await;
    let before = get(&real, "").await.json();
    let unknown = "018f0000-0000-7000-8000-000000000009";

    for (body, expected, repeatable) in [
        (json!({"parameters": {"autoScalerMax": 12}}), 400, None),
        (json!({"service_id": "", "parameters": {"autoScalerMax": 12}}), 400, None),
        (json!({"service_id": unknown}), 400, None),
        (json!({"service_id": 7}), 400, None),
        (json!({"service_id": SERVICE, "parameters": "all"}), 400, None),
        (json!({"service_id": SERVICE, "parameters": {"autoScalerMax": "many"}}), 400, None),
        (
            json!({"service_id": SERVICE, "parameters": {"autoScalerMin": 9, "autoScalerMax": 3}}),
            422,
            None,
        ),
        (json!({"service_id": SERVICE, "parameters": {"noSuchThing": 1}}), 400, None),
        (json!({"service_id": SERVICE, "plan_id": AZURE}), 422, Some(false)),
        (json!({"service_id": SERVICE, "plan_id": unknown}), 400, None),
    ] {
        let reply = patch(&real, WAITING, &body).await;
        let told = reply.json();
        assert_eq!(status(&reply), expected, "{body}: {told}");
        assert!(!reply.description().is_empty(), "X2: {body}");
        assert_eq!(
            told.get("update_repeatable").and_then(Value::as_bool),
            repeatable,
            "X4: {body}"
        );
    }
    let broken = real.service.request("PATCH", &format!("/oauth{INSTANCE}?{WAITING}"));
    let broken = real.service.send(broken.body(Body::from("{")).unwrap()).await;
    assert_eq!(status(&broken), 400, "H10");
    let elsewhere = format!("/v2/service_instances/{unknown}?{WAITING}");
    let missing = send(&real.service, "PATCH", &elsewhere, Some(&change(12))).await;
    assert_eq!(status(&missing), 404);
    assert_eq!((get(&real, "").await.json(), real.operations().await), (before, 1));
}

#[tokio::test]
async fn x8_nothing_changes_while_the_instance_is_removed() {
    let real = made().await;
    let removal = send(&real.service, "DELETE", &format!("{INSTANCE}?{HINTS}"), None).await;
    assert_eq!(status(&removal), 202);

    let refused = patch(&real, WAITING, &change(12)).await;

    assert_eq!((status(&refused), &refused.json()["error"]), (422, &json!("ConcurrencyError")));
    assert_eq!(refused.description(), CONCURRENT);
    assert_eq!(real.operations().await, 2);
}

#[tokio::test]
async fn x10_a_change_for_a_maintenance_that_the_catalog_does_not_have_is_a_conflict() {
    let real = made().await;
    let mut body = change(12);
    body["maintenance_info"] = json!({"version": "1.2.3"});

    let refused = patch(&real, WAITING, &body).await;

    let expected = (422, &json!("MaintenanceInfoConflict"));
    assert_eq!((status(&refused), &refused.json()["error"]), expected);
    assert_eq!(real.operations().await, 1);
    body["maintenance_info"] = json!({});
    assert_eq!(status(&patch(&real, WAITING, &body).await), 202);
}
