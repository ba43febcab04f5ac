//! Every call of the four clients against every status and every body that makes no sense.

mod calls;
mod connections;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use clients::{CallLimits, Kind};
use serde_json::json;
use url::Url;

use super::support::answering;
use calls::calls;

async fn issuer() -> Url {
    answering(|_, _| Json(json!({"access_token": "t", "expires_in": 600})).into_response()).await.0
}

fn plain(status: u16, retry_after: Option<&str>) -> Response {
    let mut headers = HeaderMap::new();
    if let Some(wait) = retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from_str(wait).unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), headers, "<html>no</html>").into_response()
}

#[tokio::test]
async fn every_status_has_its_class_in_every_call() {
    let wait = Some(Duration::from_secs(7));
    let table = [
        (400, None, Kind::Refused { status: 400 }),
        (401, None, Kind::Unauthorized),
        (403, None, Kind::Unauthorized),
        (404, None, Kind::NotFound),
        (408, None, Kind::Unavailable),
        (409, None, Kind::Conflict),
        (422, None, Kind::Refused { status: 422 }),
        (425, None, Kind::Unavailable),
        (429, None, Kind::Throttled { retry_after: None }),
        (429, Some("7"), Kind::Throttled { retry_after: wait }),
        (429, Some("Thu, 01 Jan 2026 12:00:07 GMT"), Kind::Throttled { retry_after: wait }),
        (500, None, Kind::Unavailable),
        (502, None, Kind::Unavailable),
        (503, Some("7"), Kind::Throttled { retry_after: wait }),
        (504, None, Kind::Unavailable),
    ];
    let issuer = issuer().await;
    let next = Arc::new(Mutex::new((200, None)));
    let current = next.clone();
    let (url, heard) = answering(move |_, _| {
        let (status, retry_after) = *current.lock().unwrap();
        plain(status, retry_after)
    })
    .await;

    for call in calls() {
        let made = (call.prepared)(url.clone(), issuer.clone(), CallLimits::DEFAULT);
        for (status, retry_after, kind) in table {
            // A refusal in between: the system is alive, and calls are not held back.
            *next.lock().unwrap() = (400, None);
            made().await.expect_err(call.name);
            *next.lock().unwrap() = (status, retry_after);
            let before = heard.len();
            let called = made().await;

            assert!(heard.len() > before, "{} was not made", call.name);
            if kind == Kind::NotFound && call.absent_is_fine {
                called.unwrap_or_else(|error| panic!("{}: {error}", call.name));
                continue;
            }
            let error = called.expect_err(call.name);
            assert_eq!(error.kind, kind, "{} {status}", call.name);
            assert!(!error.doing.is_empty());
        }
    }
}

#[tokio::test]
async fn bodies_that_make_no_sense_or_never_end_are_malformed() {
    let issuer = issuer().await;
    let bodies = ["{\"half\":", "[]", "<html>", "null", "{\"value\": 5, \"events\": 5}"];
    let large = "x".repeat(100_000);
    let limits = CallLimits { body: 50_000, ..CallLimits::DEFAULT };

    let next = Arc::new(Mutex::new(String::new()));
    let current = next.clone();
    let (url, _) = answering(move |_, _| current.lock().unwrap().clone().into_response()).await;
    for call in calls() {
        let made = (call.prepared)(url.clone(), issuer.clone(), limits);
        for body in bodies.into_iter().chain([large.as_str()]) {
            body.clone_into(&mut next.lock().unwrap());
            // Nobody reads what a deletion answers, and what has no fields says nothing.
            let unread = matches!(call.name, "delete cluster" | "delete group");
            let optional = matches!(call.name, "subaccount" | "keys");
            let fieldless = optional && (body == "[]" || body.contains("value"));
            let ignored = (unread || fieldless) && body.len() < 50_000;
            match made().await {
                Ok(()) => assert!(ignored, "{} {body}", call.name),
                Err(error) => assert_eq!(error.kind, Kind::Malformed, "{} {error}", call.name),
            }
        }
    }
}
