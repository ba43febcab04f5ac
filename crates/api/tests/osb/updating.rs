//! The duties of a broker about changes, by their ids in the checklist of the protocol, on a real broker.

mod access;
mod refusals;

use axum::http::header;
use engine::State;
use serde_json::{Value, json};

use crate::{
    conformance::{send, status},
    real::{AWS, Real, SERVICE},
    service::{Reply, WAITING},
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
