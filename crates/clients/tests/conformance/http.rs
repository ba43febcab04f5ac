//! The shared client: what a status means, which fields count, whose turn it is.

mod breaker;
mod credentials;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use clients::{CallLimits, Kind};

use crate::support::{answering, http, noon, serve};

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
