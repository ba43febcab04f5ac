//! The duties of a broker about changes, by their ids in the checklist of the protocol, on a real broker.

use axum::{body::Body, http::header};
use engine::State;
use serde_json::{Value, json};

use crate::{
    conformance::{send, status},
    real::{AWS, Real, SERVICE},
    service::{HINTS, PLATFORM, Reply, WAITING, basic},
};

const INSTANCE: &str = "/v2/service_instances/i-1";
const AZURE: &str = "4deee563-e5ec-4731-b9b1-53b42d855f0c";
const ASYNC: &str =
    "This service plan requires client support for asynchronous service operations.";
const CONCURRENT: &str =
    "The Service Broker does not support concurrent requests that mutate the same resource.";

async fn made() -> Real {
    let real = Real::start().await;
    real.make("i-1").await;
    real
}

async fn patch(real: &Real, query: &str, body: &Value) -> Reply {
    send(&real.service, "PATCH", &format!("{INSTANCE}?{query}"), Some(body)).await
}

async fn get(real: &Real, path: &str) -> Reply {
    send(&real.service, "GET", &format!("{INSTANCE}{path}"), None).await
}

fn change(maximum: u32) -> Value {
    json!({"service_id": SERVICE, "parameters": {"autoScalerMax": maximum}, "an_extension": 1})
}

#[tokio::test]
async fn u_a_change_goes_from_accepted_to_applied() {
    let real = made().await;

    // X7, S2: nothing begins for a platform that cannot wait.
    for query in ["", "accepts_incomplete=false", "accepts_incomplete=yes"] {
        let refused = patch(&real, query, &change(12)).await;
        assert_eq!((status(&refused), &refused.json()["error"]), (422, &json!("AsyncRequired")));
        assert_eq!(refused.description(), ASYNC);
    }
    assert_eq!(real.operations().await, 1);

    // S3, U8: 202 with an operation.
    let first = patch(&real, WAITING, &change(12)).await;
    assert_eq!(status(&first), 202, "{}", first.text);
    let operation = first.json()["operation"].as_str().unwrap().to_owned();
    assert!((1..=10_000).contains(&operation.len()));

    // U5: the same operation while it runs, also with a hint at the plan that it has.
    let mut again = change(12);
    again["plan_id"] = AWS.into();
    again["previous_values"] = json!({"plan_id": AWS, "organization_id": "org"});
    for body in [change(12), again] {
        let second = patch(&real, WAITING, &body).await;
        assert_eq!((status(&second), second.json()), (202, first.json()));
    }

    // L2, L10, H12: with and without the operation's name.
    for query in [String::new(), format!("?operation={operation}&service_id=s&plan_id={AWS}")] {
        let told = get(&real, &format!("/last_operation{query}")).await;
        assert_eq!((status(&told), &told.json()["state"]), (200, &json!("in progress")));
        assert!(told.headers.contains_key(header::RETRY_AFTER));
    }
    // G3: the instance can be read meanwhile.
    assert_eq!(status(&get(&real, "").await), 200);

    real.end(State::Succeeded, vec![]).await;
    let told = get(&real, &format!("/last_operation?operation={operation}")).await;
    assert_eq!((status(&told), &told.json()["state"]), (200, &json!("succeeded")));
    assert_eq!(real.operations().await, 2);
}

#[tokio::test]
async fn u2_u4_what_changes_nothing_is_answered_at_once_without_an_operation() {
    let real = made().await;

    for body in [
        json!({"service_id": SERVICE}),
        json!({"service_id": SERVICE, "plan_id": AWS}),
        json!({"service_id": SERVICE, "previous_values": {"plan_id": AWS}}),
        json!({"service_id": SERVICE, "context": {"platform": "cloudfoundry", "space_name": "new"}}),
    ] {
        for query in ["", WAITING] {
            let reply = patch(&real, query, &body).await;
            assert_eq!((status(&reply), reply.json().get("operation")), (200, None), "{body}");
        }
    }
    assert_eq!(real.operations().await, 1);
    assert_eq!(get(&real, "").await.json()["plan_id"], AWS);
}

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

#[tokio::test]
async fn x3_x4_l9_after_a_change_that_failed_the_instance_can_be_used_and_changed_again() {
    let real = made().await;
    patch(&real, WAITING, &change(12)).await;
    real.end(State::Failed, vec![]).await;

    let told = get(&real, "/last_operation").await.json();

    assert_eq!(told["state"], "failed");
    assert!(!told["description"].as_str().unwrap().is_empty());
    // Both are true when nothing is said.
    assert_ne!(told["instance_usable"], json!(false), "{told}");
    assert_ne!(told["update_repeatable"], json!(false), "{told}");
    assert_eq!(status(&patch(&real, WAITING, &change(12)).await), 202, "and it is begun again");
}

#[tokio::test]
async fn h_a2_a_change_needs_the_version_and_credentials_and_takes_any_originating_identity() {
    let real = made().await;
    let path = format!("{INSTANCE}?{WAITING}");
    let call = async |version: Option<&str>, password: &str, identity: Option<&str>| {
        let mut request = real.service.request("PATCH", &path);
        let headers = request.headers_mut().unwrap();
        headers.insert(header::AUTHORIZATION, basic(PLATFORM.0, password).parse().unwrap());
        headers.remove("x-broker-api-version");
        if let Some(version) = version {
            headers.insert("x-broker-api-version", version.parse().unwrap());
        }
        if let Some(identity) = identity {
            headers.insert("x-broker-api-originating-identity", identity.parse().unwrap());
        }
        status(&real.service.send(request.body(change(12).to_string().into()).unwrap()).await)
    };

    for (version, expected) in [
        (None, 412),
        (Some("1.14"), 412),
        (Some("3.0"), 412),
        (Some("2.13"), 202),
        (Some("2.99"), 202),
    ] {
        assert_eq!(call(version, PLATFORM.1, None).await, expected, "{version:?}");
    }
    assert_eq!(call(Some("2.17"), "wrong", None).await, 401, "A2");
    for identity in
        ["cloudfoundry eyJ1c2VyX2lkIjogImEifQ==", "cloudfoundry e30=", "nonsense", "a b"]
    {
        assert_eq!(call(Some("2.17"), PLATFORM.1, Some(identity)).await, 202, "H6: {identity}");
    }
    assert_eq!(real.operations().await, 2, "each is the same change");
}
