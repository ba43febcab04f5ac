//! Refusals: their texts, and that nothing is created.

use broker::{
    bindings::Bind,
    instances::{Caller, Error},
};
use serde_json::json;

use super::{BoundRuntime, anybody};

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_bound_is_refused_and_nothing_is_made() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let bind = async |request: Bind| {
        runtime.bindings.bind(&anybody(), request).await.unwrap_err().to_string()
    };
    let request = || runtime.request("b-1");
    let stranger = Caller { tenant: Some("ga-other".into()), ..Caller::default() };

    let foreign = runtime.bindings.bind(&stranger, request()).await.unwrap_err();
    assert_eq!(foreign.to_string(), "instance does not exist");
    assert!(matches!(foreign, Error::NotFound(_)));
    let unknown = bind(Bind { instance_id: "nope".into(), ..request() }).await;
    assert_eq!(unknown, "instance does not exist");
    assert_eq!(bind(Bind { service_id: String::new(), ..request() }).await, "service_id missing");
    assert_eq!(bind(Bind { plan_id: String::new(), ..request() }).await, "plan_id missing");
    let long = bind(Bind { binding_id: "x".repeat(256), ..request() }).await;
    assert_eq!(long, "binding_id is longer than 255 bytes");
    for (parameters, problem) in [
        (json!({"expiration_seconds": 599}), "between 600 and 7200"),
        (json!({"expiration_seconds": 7201}), "between 600 and 7200"),
        (json!({"expiration_seconds": "600"}), "must be an integer"),
        (json!({"lifetime": 600}), "\"lifetime\" is not known"),
    ] {
        let refused = bind(Bind { parameters: Some(parameters), ..request() }).await;
        assert!(refused.contains(problem), "{refused}");
    }

    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_has_ten_bindings_at_most_and_the_error_says_so() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    for at in 0..10 {
        runtime.bind(&format!("b-{at}")).await.unwrap();
    }

    let full = runtime.bind("one-too-many").await.unwrap_err();

    assert!(matches!(full, Error::Limit(_)));
    assert!(full.to_string().contains("maximum number of non expired bindings reached: 10"));
    runtime.unbind("b-3").await.unwrap();
    runtime.bind("one-too-many").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_is_suspended_expired_or_not_ready_cannot_be_bound() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let database = runtime.broker.store.engine().database().clone();
    let set = async |column: &str| {
        let text = format!("UPDATE instances SET {column}");
        store::on!(database.writer(), |pool| {
            sqlx::query(sqlx::AssertSqlSafe(text.clone())).execute(pool).await.map(drop)
        })
        .unwrap();
    };

    for (column, problem) in [
        ("standing = 'suspended'", "is suspended"),
        ("standing = 'failed'", "creation failed"),
        ("standing = 'provisioning'", "concurrent requests"),
        ("standing = 'deprovisioning'", "concurrent requests"),
        ("standing = 'succeeded', expired_at = created_at", "has expired"),
        ("expired_at = NULL, runtime_id = NULL", "has no runtime"),
        ("plan_name = 'trial'", "plan \"trial\" is not bindable, these are: aws"),
    ] {
        set(column).await;
        let refused = runtime.bind("b-1").await.unwrap_err().to_string();
        assert!(refused.contains(problem), "{column}: {refused}");
    }

    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}
