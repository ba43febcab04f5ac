//! The duties of a broker about orders.

use axum::http::header;
use engine::State;
use serde_json::{Value, json};

use super::{INSTANCE, WAITING, delete, get, put, status};
use crate::real::{AWS, Real, SERVICE, order};

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
async fn x10_a_maintenance_that_the_catalog_does_not_have_is_a_conflict() {
    let real = Real::start().await;
    let mut request = order();
    request["maintenance_info"] = json!({"version": "1.2.3"});

    let reply = put(&real, WAITING, &request).await;

    assert_eq!((status(&reply), &reply.json()["error"]), (422, &json!("MaintenanceInfoConflict")));
    request["maintenance_info"] = json!({});
    assert_eq!(status(&put(&real, WAITING, &request).await), 202);
}
