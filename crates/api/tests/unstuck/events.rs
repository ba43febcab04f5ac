//! Events of instances, as operators read them.

use serde_json::{Value, json};

use crate::{
    service,
    support::operations::{ENDED, RUNNING},
};

#[tokio::test]
async fn events_of_unknown_instances_are_none_and_a_wrong_query_is_named() {
    let service = service().await;

    let none = service.call("GET", "/events?instance_ids=nobody", "").await;
    let one = service.call("GET", &format!("/events?operation_ids={ENDED}"), "").await;
    let all = service.call("GET", "/events", "").await;
    let wrong = service.call("GET", "/events?operation_ids=x", "").await;
    let unknown = service.call("GET", "/events?instances=x", "").await;

    assert_eq!(none, (200, json!([])));
    let last = one.1.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["Message"], "operation processing succeeded");
    assert_eq!((&last["Level"], &last["InstanceID"]), (&json!("info"), &json!("instance-2")));
    assert!(all.1.as_array().unwrap().len() > one.1.as_array().unwrap().len());
    assert_eq!((wrong.0, unknown.0), (400, 400));
    for name in ["instance_ids", "operation_ids", "runtime_ids"] {
        let of = |many: usize| format!("/events?{name}={}", vec![ENDED; many].join(","));
        let refused = service.call("GET", &of(501), "").await;
        assert_eq!((service.call("GET", &of(500), "").await.0, refused.0), (200, 400), "{name}");
    }
}

/// The exchange of the known client's list with events, and the filters that other clients use.
#[tokio::test]
async fn events_have_the_known_fields_in_order_of_time_and_every_filter_narrows_them() {
    let service = service().await;
    service.post(RUNNING, "abandon", r#"{"reason": "it hangs"}"#).await;
    service.operations.operations.engine().clock().advance(std::time::Duration::from_secs(1));
    service.post(RUNNING, "retry", r#"{"reason": "parts came"}"#).await;
    let events = async |query: &str| {
        let (status, events) = service.call("GET", &format!("/events?{query}"), "").await;
        assert_eq!(status, 200, "{query}: {events}");
        events.as_array().unwrap().clone()
    };
    let of = |events: &[Value], field: &str| -> Vec<String> {
        let texts = events.iter().map(|event| event[field].as_str().unwrap().to_owned());
        texts.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    };

    let one = events("instance_ids=instance-1").await;
    let fields = ["CreatedAt", "ID", "InstanceID", "Level", "Message", "OperationID"];
    for event in &one {
        let mut own: Vec<_> = event.as_object().unwrap().keys().map(String::as_str).collect();
        own.sort_unstable();
        assert_eq!(own, fields, "{event}");
        assert!(event.as_object().unwrap().values().all(Value::is_string), "{event}");
        event["CreatedAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    }
    assert_eq!(of(&one, "ID").len(), one.len(), "no two have the same id");
    assert_eq!(of(&one, "Level"), ["error", "info"]);
    assert_eq!(of(&one, "InstanceID"), ["instance-1"]);
    let times: Vec<_> = one.iter().map(|event| event["CreatedAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && times.first() < times.last(), "{times:?}");

    // Several are separated by commas; of instances and operations together, what fits both.
    let both = events("instance_ids=instance-1,instance-2").await;
    assert_eq!(of(&both, "InstanceID"), ["instance-1", "instance-2"]);
    let running = events(&format!("operation_ids={RUNNING}")).await;
    assert_eq!(of(&running, "OperationID"), [RUNNING]);
    assert!(running.len() < one.len(), "the retry is another operation");
    let two = events(&format!("operation_ids={RUNNING},{ENDED}")).await;
    assert_eq!(of(&two, "OperationID"), [RUNNING, ENDED]);
    let fits = events(&format!("operation_ids={RUNNING},{ENDED}&instance_ids=instance-2")).await;
    assert_eq!(of(&fits, "OperationID"), [ENDED]);
    let none = format!("operation_ids={RUNNING}&instance_ids=instance-2");
    assert_eq!(events(&none).await, Vec::<Value>::new());
}
