//! The control API: what it shows, what it changes, whom it lets in.

use serde_json::{Value, json};

use crate::world::{World, json, status};

#[tokio::test]
async fn systems_show_their_health_their_trouble_and_their_calls() {
    let world = World::new().await;
    world.registered("one").await;
    let asked = json!({ "system": "director", "calls": 3, "trouble": { "kind": "down" } });
    let trouble = json(world.control("POST", "/troubles").json(&asked)).await;

    let systems = json(world.control("GET", "/systems")).await["systems"].clone();
    let director = json(world.control("GET", "/systems/director")).await;

    assert_eq!(systems[0]["name"], "issuer");
    assert_eq!(systems[0]["health"], "up");
    assert_eq!(systems[1], director);
    assert_eq!(director["health"], "down");
    assert_eq!(director["base"], "/director");
    assert_eq!(director["troubles"], json!([trouble["id"]]));
    assert_eq!(director["calls"], json!({ "received": 1, "applied": 1, "replied": 1, "lost": 0 }));
    assert_eq!(director["objects"], 1);
}

#[tokio::test]
async fn objects_are_listed_shown_and_deleted() {
    let world = World::new().await;
    let id = world.registered("one").await;
    let path = format!("/systems/director/objects/runtime/{id}");

    let listed = json(world.control("GET", "/systems/director/objects?kind=runtime")).await;
    let shown = json(world.control("GET", &path)).await;
    let deleted = status(world.control("DELETE", &path)).await;

    assert_eq!(listed["objects"], json!([shown]));
    assert_eq!(shown["value"]["name"], "one");
    assert_eq!(deleted, 204);
    assert_eq!(status(world.control("GET", &path)).await, 404);
    assert_eq!(status(world.control("DELETE", &path)).await, 404);
    assert_eq!(world.runtime(&id).await, Value::Null);
}

#[tokio::test]
async fn trouble_is_made_shown_and_ended() {
    let world = World::new().await;
    let asked = json!({
        "system": "issuer", "method": "POST", "path": "/oauth2", "probability": 0.5,
        "seconds": 60, "trouble": { "kind": "slow", "delay_ms": 5 },
    });

    let made = json(world.control("POST", "/troubles").json(&asked)).await;
    let path = format!("/troubles/{}", made["id"]);
    assert_eq!(json(world.control("GET", &path)).await, made);
    assert_eq!(made["until"], "2026-01-01T12:01:00Z");
    assert_eq!(status(world.control("DELETE", &path)).await, 204);
    assert_eq!(status(world.control("DELETE", &path)).await, 404);

    world.control("POST", "/troubles").json(&asked).send().await.unwrap();
    assert_eq!(status(world.control("DELETE", "/troubles")).await, 204);
    assert_eq!(json(world.control("GET", "/troubles")).await, json!({ "troubles": [] }));
}

#[tokio::test]
async fn nonsense_is_refused() {
    let world = World::new().await;
    let bodies = [
        json!({ "trouble": { "kind": "down" } }),
        json!({ "calls": 1, "trouble": { "kind": "unheard-of" } }),
        json!({ "calls": 1, "probability": 1.5, "trouble": { "kind": "down" } }),
        json!({ "calls": 1, "trouble": { "kind": "status", "status": 199 } }),
        json!({ "calls": 1, "trouble": { "kind": "lost-answer", "status": 200 } }),
        json!({ "calls": 1, "pobability": 0.5, "trouble": { "kind": "down" } }),
    ];

    for body in bodies {
        let refused = status(world.control("POST", "/troubles").json(&body)).await;
        assert!(refused == 400 || refused == 422, "{refused} {body}");
    }
    let speed = world.control("PUT", "/speed").json(&json!({ "speed": -1 }));
    assert_eq!(status(speed).await, 400);
    let elsewhere = json!({ "system": "nobody", "calls": 1, "trouble": { "kind": "down" } });
    assert_eq!(status(world.control("POST", "/troubles").json(&elsewhere)).await, 404);
    assert_eq!(status(world.control("GET", "/systems/nobody")).await, 404);
    assert_eq!(status(world.control("POST", "/systems/director/orders/dance")).await, 404);
}

#[tokio::test]
async fn the_speed_is_set_and_told() {
    let world = World::new().await;

    for speed in [json!("max"), json!(2.5)] {
        let set = world.control("PUT", "/speed").json(&json!({ "speed": speed }));
        assert_eq!(json(set).await["speed"], speed);
        assert_eq!(json(world.control("GET", "/speed")).await["speed"], speed);
    }
}

#[tokio::test]
async fn a_reset_of_everything_keeps_the_ledger() {
    let world = World::new().await;
    let id = world.registered("one").await;

    assert_eq!(status(world.control("POST", "/reset")).await, 204);

    assert_eq!(world.runtime(&id).await, Value::Null);
    assert_eq!(world.landscape.ledger().sums("director").applied, 1);
}

#[tokio::test]
async fn only_tokens_with_the_scope_get_in_even_while_the_issuer_is_down() {
    let world = World::new().await;
    let issuer = world.landscape.issuer();
    let reader = issuer.claims("kcp", "admin", &["landscape:read".to_owned()], &[]);
    let reader = issuer.sign(&reader).unwrap();
    let down = json!({ "system": "issuer", "seconds": 60, "trouble": { "kind": "down" } });
    json(world.control("POST", "/troubles").json(&down)).await;
    let url = format!("{}/landscape/troubles", world.url);

    assert_eq!(status(world.http.get(&url)).await, 401);
    assert_eq!(status(world.http.get(&url).bearer_auth("nonsense")).await, 401);
    assert_eq!(status(world.http.get(&url).bearer_auth(&reader)).await, 200);
    assert_eq!(status(world.http.delete(&url).bearer_auth(&reader)).await, 403);
    assert_eq!(status(world.control("DELETE", "/troubles")).await, 204);
}

#[tokio::test]
async fn trouble_is_ended_with_a_token_that_trouble_has_ended() {
    let world = World::new().await;
    let issuer = world.landscape.issuer();
    let claims = issuer.claims("kcp", "admin", &["landscape:write".to_owned()], &[]);
    let (old, url) = (issuer.sign(&claims).unwrap(), format!("{}/landscape/troubles", world.url));
    assert_eq!(status(world.control("POST", "/systems/issuer/orders/expire-tokens")).await, 204);
    let down = json!({ "system": "issuer", "seconds": 60, "trouble": { "kind": "down" } });
    json(world.control("POST", "/troubles").json(&down)).await;

    assert!(issuer.verify(&old).is_err());
    assert_eq!(status(world.http.delete(&url).bearer_auth(&old)).await, 204);
}

#[tokio::test]
async fn a_gateway_may_answer_with_a_page_of_its_own_and_200() {
    let world = World::new().await;
    let page =
        json!({ "system": "issuer", "calls": 1, "trouble": { "kind": "status", "status": 200 } });
    json(world.control("POST", "/troubles").json(&page)).await;

    let answer = world.http.get(format!("{}/.well-known/openid-configuration", world.url));
    let answer = answer.send().await.unwrap();

    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().starts_with("<html>"));
}
