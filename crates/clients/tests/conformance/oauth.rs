//! Tokens: asked for as issuers expect it, kept, shared, and renewed once.

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
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use clients::{CallLimits, Error, Grant, Kind, TokenSource};
use secrecy::ExposeSecret;
use serde_json::json;
use url::Url;

use crate::support::{Journal, RecordedRequest, answering, http, noon, serve};

fn grant() -> Grant {
    Grant::ClientCredentials {
        id: "edp-namespace;kyma".into(),
        secret: "p&ss wörd".to_owned().into(),
        scope: "runtime:read runtime:write".into(),
    }
}

fn password() -> Grant {
    Grant::Password {
        client: "avs".into(),
        user: "a@b".into(),
        password: "hunter2&".to_owned().into(),
    }
}

fn token(value: &str) -> Response {
    Json(json!({"access_token": value, "token_type": "bearer", "expires_in": 3599})).into_response()
}

fn refusal(status: u16, code: &str) -> Response {
    let body = Json(json!({"error": code, "error_description": "no p&ss wörd, no hunter2&"}));
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

async fn fetched(url: Url, grant: Grant) -> Result<String, Error> {
    let source = TokenSource::new(url, grant, noon()).unwrap();
    source.token().await.map(|token| token.expose_secret().to_owned())
}

#[tokio::test]
async fn client_credentials_are_asked_for_with_an_escaped_basic_header() {
    let (url, heard) = answering(|_, _| token("t")).await;

    fetched(url.join("/oauth2/token").unwrap(), grant()).await.unwrap();

    let heard = heard.last();
    let basic = STANDARD.encode("edp-namespace%3Bkyma:p%26ss+w%C3%B6rd");
    assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/oauth2/token"));
    assert_eq!(heard.header("authorization"), Some(format!("Basic {basic}").as_str()));
    assert_eq!(heard.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(heard.body, "grant_type=client_credentials&scope=runtime%3Aread+runtime%3Awrite");
}

#[tokio::test]
async fn a_password_is_asked_for_with_the_client_in_the_header() {
    let (url, heard) = answering(|_, _| token("t")).await;

    fetched(url, password()).await.unwrap();

    let heard = heard.last();
    let basic = format!("Basic {}", STANDARD.encode("avs:"));
    assert_eq!(heard.header("authorization"), Some(basic.as_str()));
    assert_eq!(heard.body, "grant_type=password&username=a%40b&password=hunter2%26");
}

#[tokio::test]
async fn an_issuer_that_wants_the_form_gets_it_and_is_remembered() {
    let (url, heard) = answering(|_, heard: RecordedRequest| match heard.header("authorization") {
        Some(_) => refusal(401, "invalid_client"),
        None => token("t"),
    })
    .await;
    let clock = noon();
    let source = TokenSource::new(url, grant(), clock.clone()).unwrap();

    source.token().await.unwrap();
    clock.advance(Duration::from_secs(3600));
    source.token().await.unwrap();

    assert_eq!(heard.len(), 3);
    assert!(
        heard
            .last()
            .body
            .ends_with("&client_id=edp-namespace%3Bkyma&client_secret=p%26ss+w%C3%B6rd")
    );
}

#[tokio::test]
async fn refusals_are_classified_and_tell_no_secret() {
    let table = [
        (401, "invalid_client", Kind::Unauthorized, 2),
        (400, "invalid_grant", Kind::Unauthorized, 1),
        (200, "invalid_client", Kind::Unauthorized, 1),
        (404, "", Kind::NotFound, 2),
        (429, "", Kind::Throttled { retry_after: None }, 1),
        (500, "", Kind::Unavailable, 1),
    ];

    for (status, code, kind, calls) in table {
        for grant in [grant(), password()] {
            let (url, heard) = answering(move |_, _| refusal(status, code)).await;

            let error = fetched(url, grant).await.unwrap_err();

            assert_eq!((error.kind, heard.len()), (kind, calls), "{status} {code}");
        }
        let (url, _) = answering(move |_, _| refusal(status, code)).await;
        let text = base::failure::chain(&fetched(url, grant()).await.unwrap_err());
        assert!(!text.contains("p&ss"), "{text}");
    }
}

#[tokio::test]
async fn answers_are_read_in_all_their_forms() {
    let form = "access_token=a%20b&token_type=bearer&expires_in=60";
    let (url, _) = answering(move |_, _| {
        ([("content-type", "application/x-www-form-urlencoded")], form).into_response()
    })
    .await;
    assert_eq!(fetched(url, grant()).await.unwrap(), "a b");

    for bad in ["{}", "{\"access_token\": \"\"}", "<html>", "{\"access_token\": 5}"] {
        let (url, _) = answering(move |_, _| bad.into_response()).await;
        assert_eq!(fetched(url, grant()).await.unwrap_err().kind, Kind::Malformed, "{bad}");
    }
}

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

#[tokio::test]
async fn a_crowd_that_waited_for_a_failure_does_not_knock_one_by_one() {
    let (url, heard) = answering(|_, _| StatusCode::INTERNAL_SERVER_ERROR.into_response()).await;
    let source = TokenSource::new(url, grant(), noon()).unwrap();

    let answers = futures::future::join_all((0..50).map(|_| source.token())).await;

    assert!(answers.iter().all(|answer| answer.as_ref().unwrap_err().kind == Kind::Unavailable));
    assert_eq!(heard.len(), 1);
}
