//! C2, C3, C5 and C10: every call with every status, every broken connection and every strange body.

use axum::{
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use base::failure::StepError;
use clients::{CallLimits, Kind};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

use super::{
    calls::{self, Special},
    golden::{answer, issuer},
    support::{answering, behaving, nobody, noon},
    test_systems::TestSystems,
};

/// A status, and what its `Retry-After` says.
type Failing = (u16, Option<&'static str>);

/// Systems that answer everything with the status that was last put here.
async fn failing() -> (TestSystems, Arc<Mutex<Failing>>) {
    let now = Arc::new(Mutex::new((500, None)));
    let kept = now.clone();
    let answer = move |_, _| -> Response {
        let (status, after): Failing = *kept.lock().unwrap();
        let status = StatusCode::from_u16(status).unwrap();
        let mut answer = (status, "<html>no</html>").into_response();
        if let Some(text) = after {
            answer.headers_mut().insert("retry-after", HeaderValue::from_static(text));
        }
        answer
    };
    let ((issuer, _), (systems, _)) = (issuer().await, answering(answer).await);
    (TestSystems::new(systems, issuer, &noon()).keeping_clients(), now)
}

#[tokio::test]
async fn every_status_of_every_call_says_what_can_be_done() {
    let wait = |seconds| Kind::Throttled { retry_after: Some(Duration::from_secs(seconds)) };
    let table = [
        (400, None, Kind::Refused { status: 400 }, false),
        (401, None, Kind::Unauthorized, true),
        (403, None, Kind::Unauthorized, true),
        (404, None, Kind::NotFound, false),
        (408, None, Kind::Unavailable, true),
        (409, None, Kind::Conflict, false),
        (422, None, Kind::Refused { status: 422 }, false),
        (425, None, Kind::Unavailable, true),
        (429, None, Kind::Throttled { retry_after: None }, true),
        (429, Some("7"), wait(7), true),
        (429, Some("Thu, 01 Jan 2026 12:00:09 GMT"), wait(9), true),
        (500, None, Kind::Unavailable, true),
        (502, None, Kind::Unavailable, true),
        (503, None, Kind::Unavailable, true),
        (503, Some("5"), wait(5), true),
        (504, None, Kind::Unavailable, true),
    ];

    let (place, now) = failing().await;
    for call in calls::all() {
        for (status, after, kind, retryable) in table {
            let special = call.special.iter().find(|(of, _)| *of == status).map(|(_, is)| *is);
            let said = format!("{} answered {status}", call.name);

            *now.lock().unwrap() = (status, after);
            let result = (call.make)(place.clone()).await;
            // A refusal in between: the system is alive and goes on being called.
            *now.lock().unwrap() = (422, None);
            (call.make)(place.clone()).await.unwrap_err();

            let error = match (special, result) {
                (Some(Special::Fine), result) => {
                    assert!(result.is_ok(), "{said}");
                    continue;
                }
                (_, result) => result.expect_err(&said),
            };
            let exists = special == Some(Special::Exists);
            assert_eq!(error.kind, if exists { Kind::AlreadyExists } else { kind }, "{said}");
            assert_eq!(error.kind.is_retryable(), retryable, "{said}");
            assert_eq!(error.component.0, &call.name[..3], "{said}");
            assert!(!error.doing.is_empty() && !error.to_string().contains("html"), "{said}");
            let transient = matches!(StepError::from(error), StepError::Transient { .. });
            assert_eq!(transient, retryable, "{said}");
        }
    }
}

async fn heard(stream: &mut TcpStream) {
    let mut buffer = [0; 4096];
    let _ = stream.read(&mut buffer).await;
}

/// The ways in which a connection breaks: at once, after the request, in the body, never.
async fn breaking() -> [Url; 4] {
    const HALF: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"id\":";
    let reset = behaving(|stream| async move { drop(stream) });
    let silent = behaving(|mut stream| async move { heard(&mut stream).await });
    let half = behaving(|mut stream| async move {
        heard(&mut stream).await;
        let _ = stream.write_all(HALF).await;
    });
    let stalling = behaving(|mut stream| async move {
        heard(&mut stream).await;
        std::future::pending::<()>().await;
    });
    [reset.await, silent.await, half.await, stalling.await]
}

#[tokio::test]
async fn every_call_survives_every_broken_connection() {
    let (issuer, _) = issuer().await;
    let clock = noon();
    let limits = CallLimits { call: Duration::from_millis(200), ..CallLimits::DEFAULT };

    let broken = breaking().await.map(|url| (url, false));
    for (systems, refused) in broken.into_iter().chain([(nobody().await, true)]) {
        let place = TestSystems::new(systems.clone(), issuer.clone(), &clock);
        let place = TestSystems { limits, ..place }.keeping_clients();
        for call in calls::all() {
            let began = Instant::now();

            let error = (call.make)(place.clone()).await.unwrap_err();

            let reads = call.asked.starts_with("GET");
            let kind = if reads || refused { Kind::Unavailable } else { Kind::AnswerLost };
            assert_eq!(error.kind, kind, "{} {systems}", call.name);
            assert!(error.kind.is_retryable());
            assert!(began.elapsed() < Duration::from_secs(5));
            // Longer than a system that does not work is left alone, shorter than a token lives.
            clock.advance(Duration::from_secs(10));
        }
    }
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_wrong_ones_are_named_or_not_read() {
    let body = Arc::new(Mutex::new((200, "")));
    let kept = body.clone();
    let (issuer, _) = issuer().await;
    let (systems, _) = answering(move |_, _| answer(*kept.lock().unwrap())).await;
    let place = TestSystems::new(systems, issuer, &noon()).keeping_clients();

    for call in calls::all() {
        let reads_body = call.answer.1.starts_with(['{', '[']);
        // All that is read of these may be missing.
        let lenient = matches!(call.name, "ias company" | "lms status");
        for text in ["", "{", "null", "<html>", "[[]]", r#"{"id":{"a":1},"cert":5,"dns":[]}"#] {
            *body.lock().unwrap() = (call.answer.0, text);

            let result = (call.make)(place.clone()).await;

            match result {
                Ok(()) => assert!(lenient || !reads_body, "{} took {text}", call.name),
                Err(error) => {
                    assert_eq!(error.kind, Kind::Malformed, "{} got {text}", call.name);
                    assert!(reads_body && error.said.is_some(), "{} got {text}", call.name);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused() {
    let (issuer, _) = issuer().await;
    let huge = || (StatusCode::OK, "x".repeat(100_000)).into_response();
    let (systems, _) = answering(move |_, _| huge()).await;
    let limits = CallLimits { body: 10_000, ..CallLimits::DEFAULT };
    let place =
        TestSystems { limits, ..TestSystems::new(systems, issuer, &noon()) }.keeping_clients();

    for call in calls::all() {
        let error = (call.make)(place.clone()).await.unwrap_err();

        assert_eq!(error.kind, Kind::Malformed, "{}", call.name);
        assert_eq!(error.said.as_deref(), Some("the body is too large"), "{}", call.name);
    }
}
