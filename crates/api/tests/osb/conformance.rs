//! The duties of a broker, by their ids in the checklist of the protocol, on a real broker.

use axum::{body::Body, http::header};
use engine::{State, storage::Change};
use serde_json::{Value, json};

use crate::{
    real::{AWS, Real, SERVICE, order},
    service::{PLATFORM, Reply, Service, basic},
};

const INSTANCE: &str = "/v2/service_instances/i-1";

/// One request of a platform that knows Basic authentication, and the status it must get.
pub(crate) async fn send(
    service: &Service,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Reply {
    let mut request = service.request(method, path);
    let headers = request.headers_mut().unwrap();
    headers.insert(header::AUTHORIZATION, basic(PLATFORM.0, PLATFORM.1).parse().unwrap());
    headers.insert("x-broker-api-request-identity", "req-7".parse().unwrap());
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let reply = service.send(request.body(body).unwrap()).await;
    // H7 and H9 hold for every answer.
    assert_eq!(reply.headers["x-broker-api-request-identity"], "req-7");
    assert!(reply.json().is_object());
    reply
}

async fn put(real: &Real, query: &str, body: &Value) -> Reply {
    send(&real.service, "PUT", &format!("{INSTANCE}?{query}"), Some(body)).await
}

async fn delete(real: &Real, query: &str) -> Reply {
    send(&real.service, "DELETE", &format!("{INSTANCE}?{query}"), None).await
}

async fn get(real: &Real, path: &str) -> Reply {
    send(&real.service, "GET", path, None).await
}

pub(crate) fn status(reply: &Reply) -> u16 {
    reply.status.as_u16()
}

const WAITING: &str = "accepts_incomplete=true";

fn hints() -> String {
    format!("service_id={SERVICE}&plan_id={AWS}&{WAITING}")
}

#[tokio::test]
async fn h1_h2_h3_the_version_is_2_and_has_to_be_said() {
    let real = Real::start().await;
    let table = [
        (None, "/v2/catalog", 412, "X-Broker-API-Version Header not set"),
        (Some(""), "/v2/catalog", 412, "X-Broker-API-Version Header not set"),
        (Some("two"), "/v2/catalog", 412, "X-Broker-API-Version Header must contain a version"),
        (Some("+2.17"), "/v2/catalog", 412, "X-Broker-API-Version Header must contain a version"),
        (Some("2"), "/v2/catalog", 412, "X-Broker-API-Version Header must contain a version"),
        (Some("1.14"), "/v2/catalog", 412, "X-Broker-API-Version Header must be 2.x"),
        (Some("3.0"), "/v2/catalog", 412, "X-Broker-API-Version Header must be 2.x"),
        (Some("2.0"), "/v2/catalog", 200, ""),
        (Some("2.99"), "/v2/catalog", 200, ""),
        (
            Some("2.13"),
            INSTANCE,
            412,
            "get instance endpoint only supported starting with OSB version 2.14",
        ),
        (
            Some("2.13"),
            "/v2/service_instances/i-1/service_bindings/b",
            412,
            "get binding endpoint only supported starting with OSB version 2.14",
        ),
        (
            Some("2.13"),
            "/v2/service_instances/i-1/last_operation",
            404,
            "Operation with instance_id i-1 not exist",
        ),
        (Some("2.14"), INSTANCE, 404, "instance with instanceID i-1 does not exist"),
    ];

    for (version, path, expected, description) in table {
        let mut request = real.service.request("GET", path);
        let headers = request.headers_mut().unwrap();
        headers.insert(header::AUTHORIZATION, basic(PLATFORM.0, PLATFORM.1).parse().unwrap());
        headers.remove("x-broker-api-version");
        if let Some(version) = version {
            headers.insert("x-broker-api-version", version.parse().unwrap());
        }
        let reply = real.service.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((status(&reply), reply.description().as_str()), (expected, description));
    }
}

#[tokio::test]
async fn h6_an_originating_identity_of_any_form_is_taken() {
    let real = Real::start().await;

    for (number, identity) in
        ["cloudfoundry e30=", "nonsense", "a b c", "x \u{fc}"].iter().enumerate()
    {
        let path = format!("/oauth/v2/service_instances/i-{number}?{WAITING}");
        let request = real.service.request("PUT", &path);
        let request = request.header("x-broker-api-originating-identity", identity.as_bytes());
        let reply = real.service.send(request.body(order().to_string().into()).unwrap()).await;
        assert_eq!(status(&reply), 202, "{identity}: {}", reply.text);
    }
}

#[tokio::test]
async fn h7_every_refusal_echoes_the_identity_of_the_request() {
    let real = Real::start().await;

    for (method, path, expected) in [
        ("GET", "/v2/nothing", 404),
        ("POST", "/v2/catalog", 405),
        ("PUT", INSTANCE, 400),
        ("PATCH", INSTANCE, 400),
        ("DELETE", INSTANCE, 400),
    ] {
        assert_eq!(status(&send(&real.service, method, path, None).await), expected, "{path}");
    }
    let mut request = real.service.request("GET", "/v2/catalog");
    request.headers_mut().unwrap().remove(header::AUTHORIZATION);
    let request = request.header("x-broker-api-request-identity", "req-8");
    let denied = real.service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(status(&denied), 401);
    assert_eq!(denied.headers["x-broker-api-request-identity"], "req-8");
}

#[tokio::test]
async fn with_the_setting_orders_and_removals_need_no_accepts_incomplete() {
    let real = Real::start_with(true).await;

    for query in ["", "accepts_incomplete=false", WAITING] {
        assert_eq!(status(&put(&real, query, &order()).await), 202, "{query}");
    }
    let hints = format!("service_id={SERVICE}&plan_id={AWS}");
    let removed = delete(&real, &hints).await;
    assert_eq!(status(&removed), 202, "{}", removed.text);
    assert_eq!(real.operations().await, 2);
}

#[tokio::test]
async fn p_an_order_goes_from_accepted_to_complete() {
    let real = Real::start().await;

    // X7, S2: nothing begins for a platform that cannot wait.
    for query in ["", "accepts_incomplete=false", "accepts_incomplete=yes"] {
        let refused = put(&real, query, &order()).await;
        assert_eq!((status(&refused), &refused.json()["error"]), (422, &json!("AsyncRequired")));
        let literal =
            "This service plan requires client support for asynchronous service operations.";
        assert_eq!(refused.description(), literal);
    }
    assert_eq!(real.operations().await, 0);

    // S3, P8: 202 with an operation and a dashboard.
    let first = put(&real, WAITING, &order()).await;
    assert_eq!(status(&first), 202);
    assert!(first.json()["operation"].as_str().unwrap().len() <= 10_000);
    assert!(first.json()["dashboard_url"].is_string());

    // P5: the same operation while it runs. A5: extensions and the order of fields do not matter.
    let mut again = order();
    again["another_extension"] = json!(1);
    again["organization_guid"] = Value::Null;
    let second = put(&real, WAITING, &again).await;
    assert_eq!((status(&second), second.json()), (202, first.json()));

    // P6: other attributes.
    for (pointer, value) in [("/parameters/name", "x"), ("/context/subaccount_id", "x")] {
        let mut other = order();
        *other.pointer_mut(pointer).unwrap() = value.into();
        assert_eq!(status(&put(&real, WAITING, &other).await), 409, "{pointer}");
    }

    // G2: not there while it is made. L2, L10: with and without the operation's name.
    assert_eq!(status(&get(&real, INSTANCE).await), 404);
    let operation = first.json()["operation"].as_str().unwrap().to_owned();
    for query in [String::new(), format!("?operation={operation}&service_id=s&plan_id=p")] {
        let told = get(&real, &format!("{INSTANCE}/last_operation{query}")).await;
        assert_eq!((status(&told), &told.json()["state"]), (200, &json!("in progress")));
        assert!(told.headers.contains_key(header::RETRY_AFTER), "H12");
    }

    // G1, L2: there as soon as it is told to have succeeded. P4: 200 for the same order.
    real.end(State::Succeeded, vec![]).await;
    let told = get(&real, &format!("{INSTANCE}/last_operation?operation={operation}")).await;
    assert_eq!((status(&told), &told.json()["state"]), (200, &json!("succeeded")));
    let found = get(&real, INSTANCE).await;
    assert_eq!((status(&found), &found.json()["plan_id"]), (200, &json!(AWS)));
    let complete = put(&real, WAITING, &order()).await;
    assert_eq!((status(&complete), complete.json().get("operation")), (200, None));
    assert_eq!(real.operations().await, 1);
}

#[tokio::test]
async fn d_a_removal_goes_from_accepted_to_gone() {
    let real = Real::start().await;
    put(&real, WAITING, &order()).await;
    real.end(State::Succeeded, vec![]).await;

    // D1, X7.
    for (query, expected) in [
        (format!("plan_id={AWS}&{WAITING}"), (400, "service_id missing")),
        (format!("service_id={SERVICE}&{WAITING}"), (400, "plan_id missing")),
        (format!("service_id=&plan_id={AWS}&{WAITING}"), (400, "service_id missing")),
    ] {
        let reply = delete(&real, &query).await;
        assert_eq!((status(&reply), reply.description().as_str()), expected);
    }
    let refused = delete(&real, &format!("service_id={SERVICE}&plan_id={AWS}")).await;
    assert_eq!((status(&refused), &refused.json()["error"]), (422, &json!("AsyncRequired")));

    // D3: the same operation while it runs. X8: nothing else begins meanwhile.
    let first = delete(&real, &hints()).await;
    let again = delete(&real, &hints()).await;
    assert_eq!((status(&first), status(&again)), (202, 202));
    assert_eq!(first.json(), again.json());
    let busy = put(&real, WAITING, &order()).await;
    assert_eq!((status(&busy), &busy.json()["error"]), (422, &json!("ConcurrencyError")));
    let literal =
        "The Service Broker does not support concurrent requests that mutate the same resource.";
    assert_eq!(busy.description(), literal);

    // D4, L7: gone, and the operation is still told.
    let removed = Change { topic: "instance".into(), body: json!({"removed": true}) };
    real.end(State::Succeeded, vec![removed]).await;
    let gone = delete(&real, &hints()).await;
    assert_eq!((status(&gone), gone.json()), (410, json!({})));
    let told = get(&real, &format!("{INSTANCE}/last_operation")).await;
    assert_eq!((status(&told), &told.json()["state"]), (200, &json!("succeeded")));
    assert_eq!(status(&get(&real, INSTANCE).await), 404);
    // A8: the id is spent.
    assert_eq!(status(&put(&real, WAITING, &order()).await), 409);
}

#[tokio::test]
async fn d4_d6_removal_is_safe_for_what_was_never_finished_or_never_seen() {
    let real = Real::start().await;

    let unseen = delete(&real, &hints()).await;
    assert_eq!((status(&unseen), unseen.json()), (410, json!({})));

    let order = put(&real, WAITING, &order()).await.json()["operation"].clone();
    let removal = delete(&real, &hints()).await;
    assert_eq!(status(&removal), 202);
    assert_ne!(removal.json()["operation"], order);

    // The create ends as failed; without a name, the delete is told.
    real.end(State::Failed, vec![]).await;
    let path = format!("{INSTANCE}/last_operation");
    let create = get(&real, &format!("{path}?operation={}", order.as_str().unwrap())).await;
    assert_eq!(create.json()["state"], "failed");
    assert!(create.json().get("instance_usable").is_none(), "X3: not for a create");
    assert_eq!(get(&real, &path).await.json()["state"], "in progress");
}

#[tokio::test]
async fn l4_l6_operations_that_are_not_there_are_told_apart() {
    let real = Real::start().await;
    let operation = put(&real, WAITING, &order()).await.json()["operation"].clone();
    let operation = operation.as_str().unwrap();
    let other = "/v2/service_instances/i-2/last_operation";

    assert_eq!(status(&get(&real, other).await), 404);
    assert_eq!(status(&get(&real, &format!("{other}?operation={operation}")).await), 400);
    let unknown = "018f0000-0000-7000-8000-000000000009";
    let path = format!("{INSTANCE}/last_operation?operation=");
    assert_eq!(status(&get(&real, &format!("{path}{unknown}")).await), 404);
    assert_eq!(status(&get(&real, &format!("{path}nonsense%20")).await), 404);
    assert_eq!(status(&get(&real, &format!("{path}%ff")).await), 404);
}

#[tokio::test]
async fn x10_a_maintenance_that_the_catalog_does_not_have_is_a_conflict() {
    let real = Real::start().await;
    let mut request = order();
    request["maintenance_info"] = json!({"version": "1.2.3"});

    let reply = put(&real, WAITING, &request).await;

    assert_eq!((status(&reply), &reply.json()["error"]), (422, &json!("MaintenanceInfoConflict")));
    request["maintenance_info"] = json!({});
    assert_eq!(status(&put(&real, WAITING, &request).await), 202);
}
