//! The shared client: what a status means, whose token it sends, whose turn it is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base::Clock;
use clients::{CallLimits, Component, Gate, Grant, Http, Kind, TokenSource};
use serde_json::{Value, json};

use crate::support::{CallLog, EDP, answering, caller, http, noon, serve};

fn answer(status: u16, retry_after: Option<&str>, body: &'static str) -> Response {
    let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
    if let Some(value) = retry_after {
        response.headers_mut().insert("retry-after", value.parse().unwrap());
    }
    response
}

#[tokio::test]
async fn every_status_has_one_meaning() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let throttled = |seconds_| Kind::Throttled { retry_after: seconds_ };
    let date = Some("Thu, 01 Jan 2026 12:00:30 GMT");
    let table = [
        (400, None, Kind::Refused { status: 400 }, false),
        (401, None, Kind::Unauthorized, true),
        (403, None, Kind::Unauthorized, true),
        (404, None, Kind::NotFound, false),
        (408, None, Kind::Unavailable, true),
        (409, None, Kind::Conflict, false),
        (412, None, Kind::Conflict, false),
        (422, None, Kind::Refused { status: 422 }, false),
        (425, None, Kind::Unavailable, true),
        (429, None, throttled(None), true),
        (429, Some("7"), throttled(seconds(7)), true),
        (429, date, throttled(seconds(30)), true),
        (500, None, Kind::Unavailable, true),
        (502, None, Kind::Unavailable, true),
        (503, None, Kind::Unavailable, true),
        (503, date, throttled(seconds(30)), true),
        (504, None, Kind::Unavailable, true),
    ];

    for (status, retry_after, kind, retryable) in table {
        let (url, heard) =
            answering(move |_, _| answer(status, retry_after, "<html>secret</html>")).await;
        let http = http(url, CallLimits::DEFAULT, &noon());

        let error = http.send("trying it", http.post("/a")).await.unwrap_err();

        assert_eq!((error.kind, error.kind.is_retryable()), (kind, retryable), "{status}");
        assert_eq!(heard.len(), 1, "{status} is not tried again");
        assert!(!base::failure::chain(&error).contains("secret"));
    }
}

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
async fn no_more_calls_are_under_way_than_allowed() {
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now_, most_) = (now.clone(), most.clone());
    let busy = get(move || async move {
        most_.fetch_max(now_.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        now_.fetch_sub(1, Ordering::SeqCst);
    });
    let url = serve(Router::new().route("/a", busy)).await;
    let http = http(url, CallLimits { at_once: 3, ..CallLimits::DEFAULT }, &noon());

    let calls = (0..30).map(|_| http.send("trying it", http.get("/a")));
    let answers = futures::future::join_all(calls).await;

    assert!(answers.iter().all(Result::is_ok));
    assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
}

#[tokio::test]
async fn a_broken_system_is_left_alone_and_probed_until_it_is_back() {
    let well = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let state = well.clone();
    let (url, heard) = answering(move |_, _| {
        let status = if state.load(Ordering::SeqCst) { 200 } else { 500 };
        answer(status, None, "")
    })
    .await;
    let clock = noon();
    let told = CallLog::default();
    let gate = Gate::observed(EDP, CallLimits::DEFAULT, clock.clone(), Arc::new(told.clone()));
    let http = Http::through(gate, url).unwrap();
    let kind = async || http.send_to("a", "trying it", http.get("/a")).await.err().map(|e| e.kind);

    for _ in 0..5 {
        assert_eq!(kind().await, Some(Kind::Unavailable));
    }
    let paused = Kind::Paused { retry_after: Duration::from_secs(1) };
    let error = http.send_to("a", "trying it", http.get("/a")).await.unwrap_err();
    assert_eq!(error.kind, paused);
    assert!(error.to_string().contains("edp: trying it: unavailable"), "{error}");
    assert_eq!(heard.len(), 5);

    clock.advance(Duration::from_secs(1));
    assert_eq!(kind().await, Some(Kind::Unavailable));
    assert_eq!(heard.len(), 6);

    well.store(true, Ordering::SeqCst);
    clock.advance(Duration::from_secs(2));
    assert_eq!(kind().await, None);
    assert_eq!(kind().await, None);
    assert_eq!(told.all()[4..7], ["edp a unavailable", "edp a paused", "edp a unavailable"]);
    assert_eq!(told.all().last().unwrap(), "edp a ok");
}

#[tokio::test]
async fn a_system_that_asks_for_time_is_left_alone_for_as_long_by_everybody() {
    let (url, heard) = answering(|_, _| answer(429, Some("20"), "")).await;
    let clock = noon();
    let http = http(url, CallLimits::DEFAULT, &clock);
    let kind = async || http.send("trying it", http.get("/a")).await.unwrap_err().kind;
    let wish = Duration::from_secs(20);
    for _ in 0..5 {
        assert_eq!(kind().await, Kind::Throttled { retry_after: Some(wish) });
    }

    assert_eq!(kind().await, Kind::Paused { retry_after: wish });
    clock.advance(wish.saturating_sub(Duration::from_millis(1)));
    assert!(matches!(kind().await, Kind::Paused { .. }));
    assert_eq!(heard.len(), 5);

    clock.advance(Duration::from_millis(1));
    assert!(matches!(kind().await, Kind::Throttled { .. }));
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

#[tokio::test]
async fn an_outage_is_heard_at_most_twice_a_second_after_five_seconds() {
    let (url, heard) = answering(|_, _| answer(503, None, "")).await;
    let clock = noon();
    let http = http(url, CallLimits::DEFAULT, &clock);
    let mut seconds = Vec::new();

    for _ in 0..60 {
        let before = heard.len();
        for _ in 0..10 {
            let calls = (0..5).map(|_| http.send("trying it", http.get("/a")));
            assert!(futures::future::join_all(calls).await.iter().all(Result::is_err));
            clock.advance(Duration::from_millis(100));
        }
        seconds.push(heard.len() - before);
    }

    assert!(seconds[5..].iter().all(|calls| *calls <= 2), "{seconds:?}");
    assert!(seconds[30..].iter().sum::<usize>() >= 3, "it is still probed: {seconds:?}");
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_wrong_ones_named() {
    #[derive(Debug, serde::Deserialize)]
    struct Thing {
        #[serde(default)]
        size: Option<u32>,
    }
    let bodies = ["{\"more\": 1}", "{\"size\": 3, \"more\": {}}", "{\"size\": \"three\"}", "[", ""];
    let (url, _) = answering(move |number, _| answer(200, None, bodies[number - 1])).await;
    let http = http(url, CallLimits::DEFAULT, &noon());
    let mut read = Vec::new();

    for _ in bodies {
        let answer = http.send("trying it", http.get("/a")).await.unwrap();
        read.push(answer.json::<Thing>());
    }

    assert_eq!(read[0].as_ref().unwrap().size, None);
    assert_eq!(read[1].as_ref().unwrap().size, Some(3));
    let wrong = read[2].as_ref().unwrap_err();
    assert_eq!((wrong.kind, wrong.said.as_deref()), (Kind::Malformed, Some("field size")));
    assert!(read[3..].iter().all(|read| read.as_ref().unwrap_err().kind == Kind::Malformed));
}
