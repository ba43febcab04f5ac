//! Renewal of tokens: shortly before the end or after a refusal, once for all callers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    extract::Request,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
    routing::{get, post},
};
use clients::{CallLimits, Kind, TokenSource};
use serde_json::json;
use url::Url;

use super::{grant, token};
use crate::support::{Journal, answering, http, noon, serve};

#[tokio::test]
async fn a_token_is_renewed_shortly_before_its_end() {
    for (lifetime, kept, renewed) in
        [(json!("600"), 569, 1), (json!(600), 569, 1), (json!(20), 9, 1), (json!(0), 269, 1)]
    {
        let (url, heard) = answering(move |_, _| {
            Json(json!({"access_token": "t", "expires_in": lifetime})).into_response()
        })
        .await;
        let clock = noon();
        let source = TokenSource::new(url, grant(), clock.clone()).unwrap();

        source.token().await.unwrap();
        clock.advance(Duration::from_secs(kept));
        source.token().await.unwrap();
        assert_eq!(heard.len(), 1);

        clock.advance(Duration::from_secs(renewed));
        source.token().await.unwrap();
        assert_eq!(heard.len(), 2);
    }
}

/// An issuer and a system beside it that accepts only the newest token.
async fn landscape() -> (Url, Journal, Arc<AtomicUsize>) {
    let journal = Journal::default();
    let issued = journal.clone();
    let newest = Arc::new(AtomicUsize::new(1));
    let accepted = newest.clone();
    let issue = post(move |request: Request| async move {
        issued.note(request).await;
        token(&format!("t{}", issued.len()))
    });
    let thing = get(move |headers: HeaderMap| async move {
        let wanted = format!("Bearer t{}", accepted.load(Ordering::SeqCst));
        if headers["authorization"] == wanted.as_str() {
            StatusCode::OK
        } else {
            StatusCode::UNAUTHORIZED
        }
    });
    let url = serve(Router::new().route("/token", issue).route("/thing", thing)).await;
    (url, journal, newest)
}

#[tokio::test]
async fn fifty_callers_share_one_renewal() {
    let (url, issued, newest) = landscape().await;
    let clock = noon();
    let source = TokenSource::new(url.join("/token").unwrap(), grant(), clock.clone()).unwrap();
    let http = http(url, CallLimits::DEFAULT, &clock).with_token(source);
    let all = async || {
        let calls = (0..50).map(|_| http.send("looking", http.get("/thing")));
        futures::future::join_all(calls).await.iter().all(Result::is_ok)
    };

    assert!(all().await);
    assert_eq!(issued.len(), 1);

    clock.advance(Duration::from_secs(3600));
    newest.store(2, Ordering::SeqCst);
    assert!(all().await);
    assert_eq!(issued.len(), 2);
}

#[tokio::test]
async fn fifty_callers_with_a_withdrawn_token_ask_once_for_a_new_one() {
    let (url, issued, newest) = landscape().await;
    let clock = noon();
    let source = TokenSource::new(url.join("/token").unwrap(), grant(), clock.clone()).unwrap();
    let http = http(url, CallLimits::DEFAULT, &clock).with_token(source).renewing_refused_tokens();
    http.send("looking", http.get("/thing")).await.unwrap();

    newest.store(2, Ordering::SeqCst);
    let calls = (0..50).map(|_| http.send("looking", http.get("/thing")));
    let answers = futures::future::join_all(calls).await;

    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(issued.len(), 2);
}

#[tokio::test]
async fn a_client_that_does_not_renew_has_a_new_token_in_its_next_run() {
    let (url, issued, newest) = landscape().await;
    let clock = noon();
    let source = TokenSource::new(url.join("/token").unwrap(), grant(), clock.clone()).unwrap();
    let http = http(url, CallLimits::DEFAULT, &clock).with_token(source);
    http.send("looking", http.get("/thing")).await.unwrap();

    newest.store(2, Ordering::SeqCst);
    let error = http.send("looking", http.get("/thing")).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unauthorized);

    http.send("looking", http.get("/thing")).await.unwrap();
    assert_eq!(issued.len(), 2);
}
