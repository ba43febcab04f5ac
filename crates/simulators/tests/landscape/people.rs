//! Users and clients that an operator adds to the issuer, and what a client learns about a person.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::{RequestBuilder, header::HOST};
use serde_json::{Value, json};

use crate::world::{World, json, send, status};

fn order(world: &World, name: &str) -> RequestBuilder {
    world.control("POST", &format!("/systems/issuer/orders/{name}"))
}

fn claims(token: &Value) -> Value {
    let payload = token.as_str().unwrap().split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

fn by_password(world: &World, client: &str, secret: Option<&str>, scope: &str) -> RequestBuilder {
    let fields = [
        ("grant_type", "password"),
        ("username", "lesser"),
        ("password", "their own"),
        ("scope", scope),
    ];
    let request = world.post("/oauth2/token");
    match secret {
        Some(secret) => request.basic_auth(client, Some(secret)).form(&fields),
        None => {
            let fields: Vec<_> = fields.into_iter().chain([("client_id", client)]).collect();
            request.form(&fields)
        }
    }
}

#[tokio::test]
async fn a_lesser_operator_and_a_confidential_client_can_be_added_and_survive_a_restart() {
    let world = World::new().await;
    let user = json!({"name": "lesser", "password": "their own", "groups": ["runtimeOperator"]});
    assert_eq!(status(order(&world, "add-user").json(&user)).await, 204);
    let client = json!({"id": "cli", "secret": "kept", "scopes": ["runtime:read"]});
    assert_eq!(status(order(&world, "add-client").json(&client)).await, 204);

    let world = world.reopened().await;
    let token = json(by_password(&world, "cli", Some("kept"), "openid email")).await;
    let identity = claims(&token["id_token"]);
    let wrong = status(by_password(&world, "cli", Some("other"), "openid")).await;
    let public = status(by_password(&world, "kcp", None, "openid")).await;
    let machine = world.post("/oauth2/token").basic_auth("cli", Some("kept"));
    let machine = json(machine.form(&[("grant_type", "client_credentials")])).await;

    assert_eq!(identity["groups"], json!(["runtimeOperator"]));
    assert_eq!(identity["login_name"], "lesser");
    assert_eq!(identity["email"], "lesser@example.com");
    assert_eq!(identity["email_verified"], true);
    assert_eq!((wrong, public), (401, 200));
    assert_eq!(machine["scope"], "runtime:read");
    let kept = std::fs::read_to_string(world.file("issuer.log")).unwrap();
    assert!(!kept.contains("their own"), "a password is kept in clear");
}

#[tokio::test]
async fn what_was_added_can_be_taken_away_and_nonsense_is_refused() {
    let world = World::new().await;
    let user = json!({"name": "lesser", "password": "their own", "email": "l@kyma.test"});
    assert_eq!(status(order(&world, "add-user").json(&user)).await, 204);

    let token = json(by_password(&world, "kcp", None, "openid")).await;
    let gone = status(order(&world, "remove-user").json(&json!({"name": "lesser"}))).await;
    let refused = status(by_password(&world, "kcp", None, "openid")).await;
    let again = status(order(&world, "remove-user").json(&json!({"name": "lesser"}))).await;
    let odd = json!({"id": "cli", "grants": ["magic"]});

    assert_eq!(claims(&token["id_token"])["email"], "l@kyma.test");
    assert_eq!((gone, refused, again), (204, 400, 400));
    assert_eq!(status(order(&world, "add-client").json(&odd)).await, 400);
}

#[tokio::test]
async fn a_scope_that_is_asked_for_twice_comes_back_once() {
    let world = World::new().await;
    let fields = [
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("username", "admin"),
        ("password", "pass word"),
        ("scope", "email openid openid"),
    ];

    let token = json(world.post("/oauth2/token").form(&fields)).await;

    assert_eq!(token["scope"], "email openid");
    assert_eq!(claims(&token["access_token"])["scp"], json!(["email", "openid"]));
}

#[tokio::test]
async fn other_names_of_the_issuer_and_doubled_slashes_are_told() {
    let world = World::new().await;
    let document = format!("{}/.well-known/openid-configuration", world.url);
    let port = world.url.rsplit(':').next().unwrap();

    let by_name = world.http.get(&document).header(HOST, format!("localhost:{port}"));
    let by_name = send(by_name).await;
    let doubled = send(world.http.get(format!("{}//oauth2//certs", world.url))).await;

    assert_eq!(by_name.status(), 421);
    assert!(by_name.text().await.unwrap().contains(&world.url));
    assert_eq!(doubled.status(), 404);
    assert!(doubled.text().await.unwrap().contains("it is /oauth2/certs"));
    assert_eq!(status(world.http.get(document)).await, 200);
}
