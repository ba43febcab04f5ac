//! Requests of any shape, made from the published document and schemas: refused with a word about what is wrong, or accepted; never an error of ours, and never
//! something stored for one that was refused.

mod bodies;
mod questions;
mod shapes;

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::json;

use self::{
    bodies::{body, sold},
    shapes::{OrderDefect, OrderTemplate, any_spoiling},
};
use crate::real::Real;

/// The words of which one stands in every refusal of this spoiling. Some fields have had other names in texts that
/// clients know.
fn words(spoiled: &OrderDefect) -> Vec<&str> {
    let field = match spoiled {
        OrderDefect::Bytes(_) | OrderDefect::Body(_) => return vec!["body", "missing"],
        OrderDefect::Version(_) => return vec!["x-broker-api-version"],
        OrderDefect::Field(field, _) | OrderDefect::Without(field) => field.as_str(),
    };
    match field {
        "/service_id" => vec!["service_id", "service-id"],
        "/plan_id" => vec!["plan_id", "plan-id"],
        "/context/globalaccount_id" => vec!["globalaccount_id", "global accountid"],
        "/context/subaccount_id" => vec!["subaccount_id", "subaccountid"],
        "/context/user_id" => vec!["user_id", "userid"],
        // What they hold may be wrong too.
        "/context" => vec!["context"],
        "/parameters" => vec!["parameters"],
        "/parameters/oidc" => vec!["oidc", "clientid", "issuerurl", "signingalgs"],
        field => vec![field.rsplit('/').next().unwrap()],
    }
}

async fn refused_or_accepted(
    real: &Real,
    number: usize,
    (sold, spoiled): &(OrderTemplate, OrderDefect),
) -> Result<bool, TestCaseError> {
    let path = format!("/oauth/cf-eu10/v2/service_instances/i-{number}?accepts_incomplete=true");
    let mut request = real.service.request("PUT", &path);
    if let OrderDefect::Version(version) = spoiled {
        request.headers_mut().unwrap().insert("x-broker-api-version", version.parse().unwrap());
    }
    let reply =
        real.service.send(request.body(Body::from(body(sold, number, spoiled))).unwrap()).await;
    let status = reply.status.as_u16();
    if status == 202 {
        return Ok(true);
    }
    let description = reply.description().to_lowercase();
    prop_assert!([400, 412, 422].contains(&status), "{status}: {}", reply.text);
    let named = words(spoiled).iter().any(|word| description.contains(&word.to_lowercase()));
    prop_assert!(named, "{spoiled:?} is answered with {description}");
    Ok(false)
}

fn run<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    if let Err(error) = runner.run(strategy, test) {
        panic!("{error}");
    }
}

#[test]
fn an_order_of_any_shape_is_refused_by_name_or_stored_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let real = runtime.block_on(Real::start());
    let (sent, accepted) = (AtomicUsize::new(0), AtomicUsize::new(0));

    let sold = runtime.block_on(sold(&real));

    run(4_000, &any_spoiling(sold), |spoiled| {
        let number = sent.fetch_add(1, Ordering::Relaxed);
        if runtime.block_on(refused_or_accepted(&real, number, &spoiled))? {
            accepted.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });

    let accepted = accepted.into_inner();
    let refused = sent.into_inner() - accepted;
    assert!(refused > 2_000, "{refused} were refused, {accepted} were good after all");
    assert_eq!(runtime.block_on(real.operations()), accepted);
}

#[test]
fn the_orders_that_are_spoiled_are_good() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let real = runtime.block_on(Real::start());
    let plans = runtime.block_on(sold(&real));

    for (number, plan) in plans.iter().cloned().enumerate() {
        let unspoiled = (plan, OrderDefect::Field("/an_extension".into(), json!(1)));
        let accepted = runtime.block_on(refused_or_accepted(&real, number, &unspoiled));
        assert!(accepted.unwrap(), "{unspoiled:?}");
    }

    assert_eq!(runtime.block_on(real.operations()), plans.len());
}
