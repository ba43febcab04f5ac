//! Tokens of the shared client: fetched on the call's behalf, and never sent elsewhere.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{
    Json, Router,
    http::HeaderMap,
    routing::{get, post},
};
use base::Clock;
use clients::{CallLimits, Component, Grant, Http, Kind, TokenSource};
use serde_json::{Value, json};

use super::answer;
use crate::support::{EDP, answering, caller, http, noon, serve};

#[tokio::test]
async fn fetching_a_token_does_not_change_the_key_of_the_call() {
    let token = post(|| async { Json(json!({"access_token": "t", "expires_in": 600})) });
    let echo = get(|headers: HeaderMap| async move {
        let text =
            |name: &str| headers.get(name).and_then(|value| value.to_str().ok().map(str::to_owned));
        Json(json!({"key": text("idempotency-key"), "authorization": text("authorization")}))
    });
    let url = serve(Router::new().route("/token", token).route("/echo", echo)).await;
    let grant =
        Grant::Password { client: "kcp".into(), user: "a".into(), password: "b".to_owned().into() };
    let source = TokenSource::new(url.join("/token").unwrap(), grant, Clock::running()).unwrap();
    let http = Http::new(EDP, url, CallLimits::DEFAULT).unwrap().with_token(source);
    let ask =
        async || http.send("looking", http.get("/echo")).await.unwrap().json::<Value>().unwrap();

    let with_fetch = caller(1).scope(ask()).await;
    let from_cache = caller(2).scope(ask()).await;

    assert_eq!(with_fetch, from_cache);
    assert_eq!(with_fetch["authorization"], "Bearer t");
    assert!(with_fetch["key"].as_str().unwrap().ends_with("/Look/1"));
}

#[tokio::test]
async fn an_issuer_that_is_down_does_not_stop_calls_to_the_system_that_wants_its_tokens() {
    let well = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let state = well.clone();
    // The issuer gives a first token, and is down when a refused one is to be replaced.
    let (issuer, _) = answering(|number, _| match number % 2 {
        1 => answer(200, None, "{\"access_token\": \"t\", \"expires_in\": 600}"),
        _ => answer(500, None, ""),
    })
    .await;
    let (url, heard) = answering(move |_, _| {
        let status = if state.load(Ordering::SeqCst) { 200 } else { 401 };
        answer(status, None, "")
    })
    .await;
    let clock = noon();
    let grant =
        Grant::Password { client: "kcp".into(), user: "a".into(), password: "b".to_owned().into() };
    let source = TokenSource::new(issuer.join("/token").unwrap(), grant, clock.clone()).unwrap();
    let http = http(url, CallLimits::DEFAULT, &clock).with_token(source).renewing_refused_tokens();

    for _ in 0..8 {
        let error = http.send("trying it", http.get("/a")).await.unwrap_err();
        assert_eq!((error.component, error.kind), (Component::ISSUER, Kind::Unavailable));
        clock.advance(Duration::from_secs(30));
    }
    assert_eq!(heard.len(), 8, "each call got through to the system");

    well.store(true, Ordering::SeqCst);
    assert!(http.send("trying it", http.get("/a")).await.is_ok());
}

#[tokio::test]
async fn nobody_is_led_elsewhere_with_our_credentials() {
    let (elsewhere, stolen) = answering(|_, _| answer(200, None, "{}")).await;
    for status in [301, 302, 303, 307, 308] {
        let target = elsewhere.join("/steal").unwrap();
        let (url, heard) = answering(move |_, _| {
            let mut response = answer(status, None, "");
            response.headers_mut().insert("location", target.as_str().parse().unwrap());
            response
        })
        .await;
        let grant = Grant::Password {
            client: "kcp".into(),
            user: "a".into(),
            password: "b".to_owned().into(),
        };
        let source = TokenSource::new(url.join("/token").unwrap(), grant, noon()).unwrap();
        let asking = http(url.clone(), CallLimits::DEFAULT, &noon());

        for request in [asking.get("/a"), asking.post("/a").body("secret")] {
            let request = request.bearer_auth("secret");
            let error = asking.send("trying it", request).await.unwrap_err();
            assert_eq!(error.kind, Kind::Refused { status }, "{status}");
        }
        let with_token = http(url, CallLimits::DEFAULT, &noon()).with_token(source);
        assert!(with_token.send("trying it", with_token.get("/a")).await.is_err(), "{status}");
        assert!(heard.len() >= 3, "{status}");
    }

    assert_eq!(stolen.len(), 0);
}
