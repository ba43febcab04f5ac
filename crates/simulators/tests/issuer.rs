//! The issuer, spoken to over a real socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{sync::Arc, time::Duration};

use base::Clock;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;
use simulators::issuer::{Client, Grant, Issuer, Settings, SigningKey, User, router};

struct TestIssuer {
    url: String,
    http: reqwest::Client,
}

async fn served() -> TestIssuer {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let both = vec!["broker:write".to_owned(), "cld:read".to_owned()];
    let settings = Settings {
        url: url.clone(),
        audience: vec!["kcp".into()],
        lifetime: Duration::from_hours(24),
        clients: vec![
            Client {
                id: "edp-namespace;prod".into(),
                secret: Some("s3 cret+&".to_owned().into()),
                grants: vec![Grant::ClientCredentials],
                scopes: both.clone(),
            },
            Client {
                id: "kcp".into(),
                secret: None,
                grants: vec![Grant::Password],
                scopes: both.clone(),
            },
        ],
        users: vec![User {
            name: "admin".into(),
            password: "pass word".to_owned().into(),
            scopes: vec!["cld:read".into()],
            groups: vec!["runtimeAdmin".into()],
        }],
    };
    let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
    let issuer = Issuer::new(settings, SigningKey::generate().unwrap(), clock);
    let routes = router(Arc::new(issuer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    TestIssuer { url, http: reqwest::Client::new() }
}

impl TestIssuer {
    fn ask(&self, fields: &[(&str, &str)]) -> RequestBuilder {
        self.http.post(format!("{}/oauth2/token", self.url)).form(fields)
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.http.get(format!("{}{path}", self.url)).send().await.unwrap();
        answer.json().await.unwrap()
    }
}

async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

async fn refusal(request: RequestBuilder) -> (u16, String) {
    let (status, body) = answer(request).await;
    (status.as_u16(), body["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn tokens_verify_with_the_published_keys_and_say_who_may_do_what() {
    let issuer = served().await;
    let (status, body) = answer(issuer.ask(&[
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("username", "admin"),
        ("password", "pass word"),
    ]))
    .await;
    let document = issuer.get("/.well-known/openid-configuration").await;
    let keys = issuer.get("/oauth2/certs").await;

    let key = serde_json::from_value(keys["keys"][0].clone()).unwrap();
    let key = jsonwebtoken::DecodingKey::from_jwk(&key).unwrap();
    let mut rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::RS256);
    rules.set_audience(&["kcp"]);
    rules.set_issuer(&[document["issuer"].as_str().unwrap()]);
    rules.validate_exp = false;
    let token = body["access_token"].as_str().unwrap();
    let claims = jsonwebtoken::decode::<Value>(token, &key, &rules).unwrap().claims;

    assert_eq!(status, 200);
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 86_400);
    assert_eq!(claims["sub"], "admin");
    assert_eq!(claims["scp"], serde_json::json!(["cld:read"]));
    assert_eq!(claims["scope"], "cld:read");
    assert_eq!(claims["groups"], serde_json::json!(["runtimeAdmin"]));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 86_400);
    assert_eq!(claims["nbf"], claims["iat"]);
}

#[tokio::test]
async fn machines_authenticate_by_header_plain_or_escaped_and_by_form() {
    let issuer = served().await;
    let ask = [("grant_type", "client_credentials"), ("scope", "broker:write")];

    let plain = issuer.ask(&ask).basic_auth("edp-namespace;prod", Some("s3 cret+&"));
    let escaped = issuer.ask(&ask).basic_auth("edp-namespace%3Bprod", Some("s3+cret%2B%26"));
    let form = issuer.ask(&[
        ask[0],
        ask[1],
        ("client_id", "edp-namespace;prod"),
        ("client_secret", "s3 cret+&"),
    ]);

    for request in [plain, escaped, form] {
        let (status, body) = answer(request).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["scope"], "broker:write");
    }
}

#[tokio::test]
async fn refusals_use_the_words_of_the_protocol() {
    let issuer = served().await;
    let machine = |fields: &[(&str, &str)]| {
        issuer.ask(fields).basic_auth("edp-namespace;prod", Some("s3 cret+&"))
    };
    let person = |password| {
        issuer.ask(&[
            ("grant_type", "password"),
            ("client_id", "kcp"),
            ("username", "admin"),
            ("password", password),
        ])
    };
    let ask = ("grant_type", "client_credentials");

    let table = [
        (issuer.ask(&[ask]).basic_auth("edp-namespace;prod", Some("wrong")), 401, "invalid_client"),
        (issuer.ask(&[ask]), 401, "invalid_client"),
        (issuer.ask(&[ask, ("client_id", "kcp")]), 400, "unauthorized_client"),
        (machine(&[ask, ("scope", "broker:write root")]), 400, "invalid_scope"),
        (machine(&[ask, ("client_secret", "s3 cret+&")]), 400, "invalid_request"),
        (machine(&[("grant_type", "password")]), 400, "unauthorized_client"),
        (machine(&[("grant_type", "implicit")]), 400, "unsupported_grant_type"),
        (machine(&[]), 400, "invalid_request"),
        (machine(&[ask, ask]), 400, "invalid_request"),
        (person("wrong"), 400, "invalid_grant"),
    ];

    for (number, (request, status, error)) in table.into_iter().enumerate() {
        assert_eq!(refusal(request).await, (status, error.to_owned()), "row {number}");
    }
}
