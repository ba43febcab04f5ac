//! Refusals: their texts, and that nothing is created.

use broker::{
    bindings::Bind,
    instances::{Caller, Deprovision, Error},
};
use domain::OperationId;
use engine::{State, Storage as _};
use serde_json::json;
use simulators::trouble::{Kind, Rule};

use super::{BoundRuntime, anybody};
use crate::suspension::{settled, use_cases};

on_both_databases! {
    an_instance_that_is_suspended_expired_or_not_ready_cannot_be_bound,
    an_instance_whose_runtime_is_not_known_cannot_be_bound,
}

/// What is said while an operation decides whether there is a runtime.
const BUSY: &str = "concurrent requests";

/// Changes the row of the instance.
async fn set(runtime: &BoundRuntime, columns: &str) {
    let text = format!("UPDATE instances SET {columns}");
    store::on!(runtime.broker.store.engine().database().writer(), |pool| {
        sqlx::query(sqlx::AssertSqlSafe(text.clone())).execute(pool).await.map(drop)
    })
    .unwrap();
}

async fn refused(runtime: &BoundRuntime, problem: &str) {
    let error = runtime.bind("b-1").await.unwrap_err().to_string();
    assert!(error.contains(problem), "{problem}: {error}");
}

/// An operation that waits for a Shoot that Gardener neither makes nor removes.
async fn stuck(runtime: &BoundRuntime, ask: impl AsyncFnOnce() -> OperationId) -> OperationId {
    for step in ["Create_Shoot", "Delete_Shoot"] {
        let down = Kind::Status { status: 503, body: None };
        runtime.outside.meet(Rule::next(1_000_000, down).of("gardener").from_step(step));
    }
    let id = ask().await;
    runtime.broker.until_waiting(id.uuid()).await;
    id
}

/// Ends an operation as an operator would, and the trouble too.
async fn abandoned(runtime: &BoundRuntime, id: OperationId) {
    let engine = &runtime.broker.engine;
    assert!(engine.abandon(id.uuid(), "Gardener is down").await.unwrap());
    let ended = engine.storage().read(id.uuid()).await.unwrap().unwrap();
    assert_eq!(ended.state, State::Failed);
    runtime.outside.calm();
}

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

async fn an_instance_that_is_suspended_expired_or_not_ready_cannot_be_bound(runtime: BoundRuntime) {
    let (outside, broker, order) = (&runtime.outside, &runtime.broker, &runtime.order);
    let (cases, id) = (use_cases(outside, broker), order.instance_id.as_str());

    // What its row says.
    for (column, as_before, problem) in [
        ("expired_at = created_at", "expired_at = NULL", "has expired"),
        ("plan_name = 'trial'", "plan_name = 'aws'", "\"trial\" is not bindable, these are: aws"),
    ] {
        set(&runtime, column).await;
        refused(&runtime, problem).await;
        set(&runtime, as_before).await;
    }

    // A suspension on its way, one that failed, and one that succeeded.
    let asked = async || cases.suspend(&anybody(), id).await.unwrap();
    let suspension = stuck(&runtime, asked).await;
    refused(&runtime, BUSY).await;
    abandoned(&runtime, suspension).await;
    refused(&runtime, "suspension failed").await;
    cases.suspend(&anybody(), id).await.unwrap();
    settled(outside, broker, order).await;
    refused(&runtime, "is suspended: it has no runtime").await;

    // The same of what makes its runtime.
    let asked = async || cases.unsuspend(&anybody(), id).await.unwrap().unwrap();
    let creation = stuck(&runtime, asked).await;
    refused(&runtime, BUSY).await;
    abandoned(&runtime, creation).await;
    refused(&runtime, "creation failed").await;
    cases.unsuspend(&anybody(), id).await.unwrap().unwrap();
    settled(outside, broker, order).await;
    runtime.bind("b-1").await.unwrap();
    runtime.unbind("b-1").await.unwrap();

    // A removal on its way, and one that failed.
    let request = Deprovision {
        instance_id: id.to_owned(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        accepts_incomplete: true,
    };
    let asked = async || cases.deprovision(&anybody(), request).await.unwrap();
    let removal = stuck(&runtime, asked).await;
    refused(&runtime, BUSY).await;
    abandoned(&runtime, removal).await;
    refused(&runtime, "removal failed").await;

    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}

async fn an_instance_whose_runtime_is_not_known_cannot_be_bound(runtime: BoundRuntime) {
    set(&runtime, "runtime_id = NULL").await;

    refused(&runtime, "has no runtime").await;

    assert_eq!((runtime.made().len(), runtime.stored().await), (0, 0));
}
