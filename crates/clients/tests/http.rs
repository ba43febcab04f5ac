//! The shared client against a small real server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    http::{HeaderMap, StatusCode},
    routing::{get, post},
};
use base::{
    Caller, Clock,
    caller::{Call, Guard, Verdict},
};
use clients::{Component, Grant, Http, Kind, TokenSource, http::Limits};
use serde_json::{Value, json};
use url::Url;

const EDP: Component = Component("edp");

async fn serve(routes: Router) -> Url {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Url::parse(&format!("http://{address}")).unwrap()
}

async fn kind_of(route: Router, path: &str) -> Kind {
    let limits = Limits { body: 100, call: Duration::from_secs(5), ..Limits::DEFAULT };
    let http = Http::new(EDP, serve(route).await, limits).unwrap();
    match http.send("trying it", http.get(path)).await {
        Ok(answer) => answer.json::<Value>().unwrap_err().kind,
        Err(error) => error.kind,
    }
}

#[tokio::test]
async fn failures_are_classified_once() {
    let busy = get(|| async { (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "9")], "") });
    let throttled = Kind::Throttled { retry_after: Some(Duration::from_secs(9)) };

    assert_eq!(kind_of(Router::new().route("/a", busy), "/a").await, throttled);
    assert_eq!(kind_of(Router::new(), "a").await, Kind::NotFound);
    let huge = Router::new().route("/a", get(|| async { "x".repeat(1_000) }));
    assert_eq!(kind_of(huge, "/a").await, Kind::Malformed);
    let html = Router::new().route("/a", get(|| async { "<html>" }));
    assert_eq!(kind_of(html, "/a").await, Kind::Malformed);
}

#[tokio::test]
async fn nobody_listening_means_unavailable_and_hides_the_address() {
    let nobody = Url::parse("http://127.0.0.1:1/?secret=x").unwrap();
    let http = Http::new(EDP, nobody, Limits::DEFAULT).unwrap();

    let error = http.send("trying it", http.get("")).await.unwrap_err();

    assert_eq!(error.kind, Kind::Unavailable);
    assert!(!base::failure::chain(&error).contains("secret"));
}

#[tokio::test]
async fn one_renewal_serves_everyone_and_comes_before_the_end() {
    let issued = Arc::new(AtomicU32::new(0));
    let counter = issued.clone();
    let token = post(move || async move {
        let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
        Json(json!({"access_token": format!("t{number}"), "expires_in": "600"}))
    });
    let url = serve(Router::new().route("/token", token)).await.join("/token").unwrap();
    let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
    let grant = Grant::ClientCredentials {
        id: "kcp".into(),
        secret: "s".to_owned().into(),
        scope: String::new(),
    };
    let source = TokenSource::new(url, grant, clock.clone()).unwrap();

    let (one, two) = tokio::join!(source.token(), source.token());
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(issued.load(Ordering::SeqCst), 1);

    clock.advance(Duration::from_secs(569));
    source.token().await.unwrap();
    assert_eq!(issued.load(Ordering::SeqCst), 1);

    clock.advance(Duration::from_secs(1));
    source.token().await.unwrap();
    assert_eq!(issued.load(Ordering::SeqCst), 2);
}

struct Always;

impl Guard for Always {
    fn before<'a>(
        &'a self,
        _: &'a Call,
    ) -> std::pin::Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
    }
    fn after<'a>(
        &'a self,
        _: &'a Call,
    ) -> std::pin::Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
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
    let http = Http::new(EDP, url, Limits::DEFAULT).unwrap().with_token(source);
    let caller = || Caller {
        operation: uuid::Uuid::nil(),
        root: uuid::Uuid::nil(),
        step: "Look".into(),
        run: 1,
        epoch: 1,
        replica: uuid::Uuid::nil(),
        calls: Arc::default(),
        key_per_run: false,
        guard: Arc::new(Always),
    };
    let ask =
        async || http.send("looking", http.get("/echo")).await.unwrap().json::<Value>().unwrap();

    let with_fetch = caller().scope(ask()).await;
    let from_cache = caller().scope(ask()).await;

    assert_eq!(with_fetch, from_cache);
    assert_eq!(with_fetch["authorization"], "Bearer t");
    assert!(with_fetch["key"].as_str().unwrap().ends_with("/Look/1"));
}
