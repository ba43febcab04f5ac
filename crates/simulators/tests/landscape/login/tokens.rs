//! Codes, tokens and keys of the issuer: when they end, and what an operator can do to them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{VERIFIER, claims, found, log_in, redeem, redirected, refresh};
use crate::world::{World, json, status};

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
