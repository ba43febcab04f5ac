//! What the Director answers when something is wrong, in its own codes and envelopes.

use std::sync::{Arc, Mutex};

use axum::{Json, http::StatusCode, response::IntoResponse};
use clients::{CallLimits, Grant, Kind, TokenSource, director::Director};
use serde_json::{Value, json};

use super::{data, director, error};
use crate::support::{answering, http, noon};

#[tokio::test]
async fn codes_and_envelopes_are_classified() {
    let refused = Kind::Refused { status: 400 };
    let table = [
        (error(&json!(10)), Kind::Unavailable, "InternalError"),
        (error(&json!(20)), Kind::NotFound, "NotFound"),
        (error(&json!(21)), Kind::AlreadyExists, "NotUnique"),
        (error(&json!(22)), refused, "InvalidData"),
        (error(&json!(23)), Kind::Unauthorized, "InsufficientScopes"),
        (error(&json!(25)), refused, "TenantNotFound"),
        (error(&json!(26)), Kind::Unauthorized, "Unauthorized"),
        (error(&json!(38)), Kind::Unavailable, "Unrecognised"),
        (error(&json!("x")), Kind::Unavailable, "Unrecognised"),
        (Json(json!({"data": null})).into_response(), Kind::Malformed, ""),
        (Json(json!({"data": {}})).into_response(), Kind::Malformed, ""),
        (data(&Value::Null), Kind::Malformed, ""),
        (data(&json!({"token": 5})), Kind::Malformed, ""),
        ("<html>".into_response(), Kind::Malformed, ""),
        ((StatusCode::BAD_GATEWAY, "<html>").into_response(), Kind::Unavailable, ""),
        (
            (StatusCode::BAD_GATEWAY, error(&json!(20))).into_response(),
            Kind::Unavailable,
            "NotFound",
        ),
        ((StatusCode::NOT_FOUND, "").into_response(), Kind::Refused { status: 404 }, ""),
        (
            (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({"data": null}))).into_response(),
            Kind::Unavailable,
            "",
        ),
    ];

    for (answer, kind, reason) in table {
        let answer = Arc::new(Mutex::new(Some(answer)));
        let (director, _) = director(move |_, _| answer.lock().unwrap().take().unwrap()).await;

        let error = director.one_time_token("ga", "r-1").await.unwrap_err();

        assert_eq!((error.kind, error.reason.as_deref().unwrap_or_default()), (kind, reason));
        assert_eq!(&*error.doing, "getting a one-time token for runtime r-1");
    }
}

#[tokio::test]
async fn a_runtime_that_is_gone_is_gone() {
    for answer in [error(&json!(20)), error(&json!(25)), data(&Value::Null)] {
        let answer = Arc::new(Mutex::new(Some(answer)));
        let (director, _) = director(move |_, _| answer.lock().unwrap().take().unwrap()).await;

        director.unregister("ga", "r-1").await.unwrap();
    }
    let (director, _) = director(|_, _| data(&Value::Null)).await;
    assert_eq!(director.runtime("ga", "r-1").await.unwrap(), None);
}

#[tokio::test]
async fn an_answer_for_another_runtime_is_not_believed() {
    let (director, _) = director(|_, _| data(&json!({"id": "r-2", "name": "c-2"}))).await;

    assert_eq!(director.unregister("ga", "r-1").await.unwrap_err().kind, Kind::Malformed);
    assert_eq!(director.runtime("ga", "r-1").await.unwrap_err().kind, Kind::Malformed);
}

#[tokio::test]
async fn a_token_that_the_director_refuses_in_its_own_words_is_renewed() {
    let (issuer, issued) = answering(|number, _| {
        Json(json!({"access_token": format!("t{number}"), "expires_in": 600})).into_response()
    })
    .await;
    let (url, _) = answering(|_, heard| match heard.header("authorization") {
        Some("Bearer t1") => error(&json!(26)),
        _ => data(&Value::Null),
    })
    .await;
    let grant = Grant::ClientCredentials {
        id: "kcp".into(),
        secret: "s".to_owned().into(),
        scope: "runtime:read runtime:write".into(),
    };
    let tokens = TokenSource::new(issuer, grant, noon()).unwrap();
    let director = Director::new(http(url, CallLimits::DEFAULT, &noon()).with_token(tokens));

    assert_eq!(director.runtime("ga", "r-1").await.unwrap_err().kind, Kind::Unauthorized);
    assert_eq!(director.runtime("ga", "r-1").await.unwrap(), None);
    assert_eq!(issued.len(), 2);
}
