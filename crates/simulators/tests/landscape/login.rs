//! The issuer's flows for people, and what an operator can do to its tokens.

use std::time::Duration;

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
async fn a_code_is_worth_nothing_with_another_verifier_or_too_late() {
    let world = World::new().await;

    let code = found(&redirected(log_in(&world, "pass word")).await, "code");
    assert_eq!(json(redeem(&world, &code, "other")).await["error"], "invalid_grant");

    let code = found(&redirected(log_in(&world, "pass word")).await, "code");
    world.clock.advance(Duration::from_mins(5));
    assert_eq!(json(redeem(&world, &code, VERIFIER)).await["error"], "invalid_grant");
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

#[tokio::test]
async fn a_device_waits_slows_down_and_gets_its_token() {
    let world = World::new().await;
    let started = world.post("/oauth2/device_authorization").form(&[("client_id", "kcp")]);
    let started = json(started).await;
    let poll = || {
        json(world.post("/oauth2/token").form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "kcp"),
            ("device_code", started["device_code"].as_str().unwrap()),
        ]))
    };
    assert_eq!(started["interval"], 5);

    assert_eq!(poll().await["error"], "authorization_pending");
    assert_eq!(poll().await["error"], "slow_down");
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(poll().await["error"], "slow_down");
    world.clock.advance(Duration::from_secs(15));
    assert_eq!(poll().await["error"], "authorization_pending");

    let page = world.http.get(started["verification_uri_complete"].as_str().unwrap());
    assert_eq!(status(page).await, 200);
    let user_code = started["user_code"].as_str().unwrap().to_lowercase();
    let decide = |password| {
        let typed = [("user_code", &*user_code), ("username", "admin"), ("password", password)];
        world.post("/device").form(&typed)
    };
    assert_eq!(status(decide("wrong")).await, 401);
    assert_eq!(status(decide("pass word")).await, 200);
    assert!(poll().await["access_token"].is_string());
    assert_eq!(poll().await["error"], "invalid_grant");
}

#[tokio::test]
async fn a_device_that_is_denied_or_too_late_gets_none() {
    let world = World::new().await;
    for late in [false, true] {
        let started = world.post("/oauth2/device_authorization").form(&[("client_id", "kcp")]);
        let started = json(started).await;
        if late {
            world.clock.advance(Duration::from_mins(10));
        } else {
            let denied = world.post("/device").form(&[
                ("user_code", started["user_code"].as_str().unwrap()),
                ("username", "admin"),
                ("password", "pass word"),
                ("decision", "deny"),
            ]);
            assert_eq!(status(denied).await, 200);
        }
        let polled = json(world.post("/oauth2/token").form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "kcp"),
            ("device_code", started["device_code"].as_str().unwrap()),
        ]))
        .await;

        assert_eq!(polled["error"], if late { "expired_token" } else { "access_denied" });
    }
}

#[tokio::test]
async fn refresh_tokens_work_once_and_after_a_restart() {
    let world = World::new().await;
    let first = json(world.post("/oauth2/token").form(&[
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("username", "admin"),
        ("password", "pass word"),
    ]))
    .await;

    let world = world.reopened().await;
    let second = json(refresh(&world, &first["refresh_token"])).await;

    assert_eq!(claims(&second["access_token"])["sub"], "admin");
    assert_eq!(json(refresh(&world, &first["refresh_token"])).await["error"], "invalid_grant");
    assert!(json(refresh(&world, &second["refresh_token"])).await["access_token"].is_string());
}

#[tokio::test]
async fn keys_rotate_on_command_and_old_tokens_stay_good_until_their_key_is_withdrawn() {
    let world = World::new().await;
    let keys = || json(world.http.get(format!("{}/.well-known/jwks.json", world.url)));
    let order =
        |with: Value| world.control("POST", "/systems/issuer/orders/rotate-keys").json(&with);

    assert_eq!(status(order(json!({}))).await, 204);
    assert_eq!(keys().await["keys"].as_array().unwrap().len(), 2);
    assert_eq!(status(world.register("still-good")).await, 200);

    assert_eq!(status(order(json!({ "withdraw": true }))).await, 204);
    assert_eq!(keys().await["keys"].as_array().unwrap().len(), 1);
    assert_eq!(status(world.register("not-any-more")).await, 401);
}

#[tokio::test]
async fn tokens_expire_on_command_and_new_ones_can_be_short_lived_or_for_somebody_else() {
    let world = World::new().await;
    let order = |name: &str| world.control("POST", &format!("/systems/issuer/orders/{name}"));

    assert_eq!(status(order("set-lifetime").json(&json!({ "seconds": 0 }))).await, 204);
    let short = json(world.ask_for_token()).await;
    assert_eq!(short["expires_in"], 0);
    let issuer = world.landscape.issuer();
    assert!(issuer.verify(short["access_token"].as_str().unwrap()).is_err());

    assert_eq!(status(order("set-lifetime")).await, 204);
    let other = json!({ "audience": ["somebody-else"] });
    assert_eq!(status(order("set-audience").json(&other)).await, 204);
    let foreign = json(world.ask_for_token()).await;
    assert!(issuer.verify(foreign["access_token"].as_str().unwrap()).is_err());
    assert_eq!(status(order("set-audience")).await, 204);
    let good = json(world.ask_for_token()).await;
    assert!(issuer.verify(good["access_token"].as_str().unwrap()).is_ok());

    assert_eq!(status(order("expire-tokens")).await, 204);
    assert_eq!(status(world.register("a")).await, 401);
}
