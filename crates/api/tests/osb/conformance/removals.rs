//! The duties of a broker about removals, and about operations that are not there.

use engine::{State, storage::Change};
use serde_json::json;

use super::{INSTANCE, WAITING, delete, get, hints, put, status};
use crate::real::{AWS, Real, SERVICE, order};

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
