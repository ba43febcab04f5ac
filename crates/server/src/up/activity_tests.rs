//! Who is offered to suspend and to resume a runtime in the console, and of which runtimes.

use std::time::Duration;

use axum::{Router, body::to_bytes};
use base::Clock;
use console::{Person, SCOPES};
use serde_json::Value;

use super::{
    Up,
    audited_tests::bearer,
    console_tests::{answer, order_trial, person},
    testing,
};

const ANY_TENANT: &str = "tenants:any";
const PAGE: &str = "/console/runtimes/i-trial";

/// Whether the page of the runtime offers to suspend it, and to resume it.
async fn offers(pages: &Router, person: Person) -> (bool, bool) {
    let answer = answer(pages, "get", PAGE, person).await;
    assert_eq!(answer.status(), 200);
    let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let has = |word: &str| text.contains(&format!("href=\"{PAGE}/{word}\""));
    (has("suspend"), has("resume"))
}

/// The state of the only runtime.
async fn state(up: &Up) -> String {
    let request =
        reqwest::Client::new().get(format!("{}/runtimes?state=all", up.connection.broker));
    let listed = request.header("authorization", bearer(up, None)).send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    listed["data"][0]["status"]["state"].as_str().unwrap_or_default().to_owned()
}

fn everybody() -> Person {
    person(SCOPES.into_iter().chain([ANY_TENANT]), None)
}

#[tokio::test(flavor = "multi_thread")]
async fn suspension_is_offered_for_what_can_be_suspended_to_those_who_may_change_it() {
    let started = testing::start().await;
    let up = started.up();
    order_trial(up, "i-trial", "ga-1").await;
    let pages = console::router(started.console());
    let clock = Clock::running();
    while offers(&pages, everybody()).await != (true, false) {
        assert!(clock.monotonic() < Duration::from_secs(120), "it is never made");
        clock.sleep(Duration::from_millis(50)).await;
    }

    let others = SCOPES.into_iter().filter(|scope| *scope != "broker:write");
    let reader = person(others.chain([ANY_TENANT]), None);
    assert_eq!(offers(&pages, reader).await, (false, false), "a reader changes nothing");
    let expiry = format!("{}/expire/service_instance/i-trial", up.connection.broker);
    let request = reqwest::Client::new().put(expiry).header("authorization", bearer(up, None));
    let expired = request.header("x-broker-api-version", "2.17").send().await.unwrap();
    assert_eq!(expired.status(), 202);
    while state(up).await != "suspended" {
        assert!(clock.monotonic() < Duration::from_secs(240), "it is never suspended");
        clock.sleep(Duration::from_millis(50)).await;
    }

    assert_eq!(offers(&pages, everybody()).await, (false, false), "it is expired");
    drop(pages);
    started.stop().await;
}
