//! Tokens: requested as issuers expect it, and read in every form.

mod failures;
mod renewal;

use std::time::Duration;

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clients::{Error, Grant, Kind, TokenSource};
use secrecy::ExposeSecret;
use serde_json::json;
use url::Url;

use crate::support::{RecordedRequest, answering, noon};

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
