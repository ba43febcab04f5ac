//! The issuer's page for people, and where it leads them.

mod devices;
mod tokens;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::{RequestBuilder, Url};
use serde_json::{Value, json};

use crate::world::{World, json, send, status};

const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-0123456789";
const REDIRECT: &str = "http://127.0.0.1:8000/callback?kept=1";

fn authorize(world: &World, changed: (&str, &str)) -> Url {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
    let fields = [
        ("response_type", "code"),
        ("client_id", "kcp"),
        ("redirect_uri", REDIRECT),
        ("scope", "openid runtime:read"),
        ("state", "a<b&c"),
        ("nonce", "n-1"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    let fields =
        fields.map(|(name, value)| (name, if name == changed.0 { changed.1 } else { value }));
    Url::parse_with_params(&format!("{}/oauth2/authorize", world.url), fields).unwrap()
}

fn log_in(world: &World, password: &str) -> RequestBuilder {
    let typed = [("username", "admin"), ("password", password), ("decision", "allow")];
    world.http.post(authorize(world, ("", ""))).form(&typed)
}

async fn redirected(request: RequestBuilder) -> Vec<(String, String)> {
    let answer = send(request).await;
    assert_eq!(answer.status(), 303);
    let location = Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    location.query_pairs().into_owned().collect()
}

fn found(pairs: &[(String, String)], name: &str) -> String {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap()
}

fn redeem(world: &World, code: &str, verifier: &str) -> RequestBuilder {
    world.post("/oauth/token").form(&[
        ("grant_type", "authorization_code"),
        ("client_id", "kcp"),
        ("redirect_uri", REDIRECT),
        ("code", code),
        ("code_verifier", verifier),
    ])
}

fn refresh(world: &World, token: &Value) -> RequestBuilder {
    world.post("/oauth2/token").form(&[
        ("grant_type", "refresh_token"),
        ("client_id", "kcp"),
        ("refresh_token", token.as_str().unwrap()),
    ])
}

fn claims(token: &Value) -> Value {
    let payload = token.as_str().unwrap().split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

#[tokio::test]
async fn a_person_logs_in_on_a_page_and_the_code_works_once() {
    let world = World::new().await;
    let page = send(world.http.get(authorize(&world, ("", "")))).await;
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("value=\"a&lt;b&amp;c\""));
    assert_eq!(status(log_in(&world, "wrong")).await, 401);

    let back = redirected(log_in(&world, "pass word")).await;
    let code = found(&back, "code");
    let tokens = json(redeem(&world, &code, VERIFIER)).await;
    let again = json(redeem(&world, &code, VERIFIER)).await;

    assert_eq!((found(&back, "state"), found(&back, "kept")), ("a<b&c".into(), "1".into()));
    assert_eq!(claims(&tokens["access_token"])["scp"], json!(["openid", "runtime:read"]));
    let identity = claims(&tokens["id_token"]);
    assert_eq!((&identity["aud"], &identity["nonce"]), (&json!("kcp"), &json!("n-1")));
    assert_eq!(again["error"], "invalid_grant");
}

#[tokio::test]
async fn bad_requests_are_redirected_only_to_where_it_is_safe() {
    let world = World::new().await;
    let get = |changed| world.http.get(authorize(&world, changed));

    let plain = redirected(get(("code_challenge_method", "plain"))).await;
    let implicit = redirected(get(("response_type", "token"))).await;
    let elsewhere = status(get(("redirect_uri", "https://example.com/"))).await;
    let unknown = status(get(("client_id", "nobody"))).await;

    assert_eq!(found(&plain, "error"), "invalid_request");
    assert_eq!(found(&implicit, "error"), "unsupported_response_type");
    assert_eq!((elsewhere, unknown), (400, 400));
}
