//! CIS: tokens, limits, cursors, and what is forgotten in time.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::world::{World, json, send, status};

const CENTRAL: &str = "/events/v2/events/central";

pub(crate) fn get(world: &World, path: &str) -> RequestBuilder {
    world.http.get(format!("{}/cis{path}", world.url)).bearer_auth(&world.token)
}

async fn order(world: &World, name: &str, with: Value) {
    let order = world.control("POST", &format!("/systems/cis/orders/{name}")).json(&with);
    assert_eq!(status(order).await, 204, "{name} {with}");
}

async fn created(world: &World, count: usize) {
    for number in 0..count {
        order(world, "create-subaccount", json!({"id": format!("sa-{number}")})).await;
    }
}

#[tokio::test]
async fn only_good_tokens_get_in() {
    let world = World::new().await;
    let url = format!("{}/cis{CENTRAL}", world.url);

    assert_eq!(status(world.http.get(&url)).await, 401);
    let answer = json(world.http.get(&url).bearer_auth("nonsense")).await;
    assert_eq!(answer["error"]["code"], 401);
    assert_eq!(status(get(&world, CENTRAL)).await, 200);
    world.landscape.issuer().expire_tokens().unwrap();
    assert_eq!(status(get(&world, CENTRAL)).await, 401);
}

#[tokio::test]
async fn records_and_events_have_the_documented_fields() {
    let world = World::new().await;
    let with = json!({"id": "sa", "global_account": "ga", "beta": true, "production": "USED_FOR_PRODUCTION"});
    order(&world, "create-subaccount", with).await;

    let record = json(get(&world, "/accounts/v1/technical/subaccounts/sa")).await;
    let events = json(get(&world, CENTRAL)).await;

    let now = world.clock.now().as_millisecond();
    assert_eq!((&record["parentType"], &record["modifiedDate"]), (&json!("ROOT"), &json!(now)));
    let event = &events["events"][0];
    assert_eq!((&event["id"], &event["actionTime"]), (&json!(1), &json!(now)));
    assert_eq!(
        (&event["entityType"], &event["eventOrigin"]),
        (&json!("Subaccount"), &json!("accounts-service"))
    );
    assert_eq!(
        (&event["eventType"], &event["globalAccountGUID"]),
        (&json!("Subaccount_Creation"), &json!("ga"))
    );
    assert_eq!(event["details"]["usedForProduction"], "USED_FOR_PRODUCTION");
    assert_eq!(events["nextCursor"], Value::Null);
}

#[tokio::test]
async fn a_deletion_is_told_a_while_after_it_happened() {
    let world = World::new().await;
    created(&world, 1).await;
    let deletions = format!("{CENTRAL}?eventType=Subaccount_Deletion");

    order(&world, "delete-subaccount", json!({"id": "sa-0"})).await;

    assert_eq!(status(get(&world, "/accounts/v1/technical/subaccounts/sa-0")).await, 404);
    assert_eq!(json(get(&world, &deletions)).await["events"], json!([]));
    world.clock.advance(Duration::from_secs(3));
    assert_eq!(json(get(&world, &deletions)).await["events"][0]["entityId"], "sa-0");
    world.clock.advance(Duration::from_hours(31 * 24));
    let world = world.reopened().await;
    assert_eq!(
        json(get(&world, &deletions)).await["events"],
        json!([]),
        "events are kept for 30 days"
    );
}

#[tokio::test]
async fn a_cursor_stands_for_its_question_for_a_while() {
    let world = World::new().await;
    created(&world, 5).await;
    let first =
        json(get(&world, &format!("{CENTRAL}?pageSize=2&eventType=Subaccount_Creation"))).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let next = format!("{CENTRAL}?cursor={cursor}");

    order(&world, "update-subaccount", json!({"id": "sa-0", "beta": true})).await;

    let page = json(get(&world, &next)).await;
    assert_eq!(page["events"][0]["entityId"], "sa-2");
    assert_eq!(status(get(&world, &format!("{next}&pageSize=2"))).await, 400);
    assert_eq!(status(get(&world, &format!("{CENTRAL}?cursor=nonsense"))).await, 400);
    order(&world, "expire-cursors", json!({})).await;
    assert_eq!(status(get(&world, &next)).await, 410);
}

#[tokio::test]
async fn whoever_comes_too_often_is_told_to_wait() {
    let world = World::new().await;
    order(&world, "limit-rate", json!({"per_second": 2})).await;

    assert_eq!(status(get(&world, CENTRAL)).await, 200);
    assert_eq!(status(get(&world, CENTRAL)).await, 200);
    let refused = send(get(&world, CENTRAL)).await;
    assert_eq!(
        (refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()),
        (429, "1")
    );
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(status(get(&world, CENTRAL)).await, 200);
}

#[tokio::test]
async fn questions_that_make_no_sense_are_refused() {
    let world = World::new().await;
    let queries = [
        "since=soon",
        "since=0H",
        "since=31D",
        "pageSize=0",
        "pageSize=x",
        "sortField=id",
        "sortOrder=UP",
        "entityType=Directory",
    ];

    for query in queries {
        assert_eq!(status(get(&world, &format!("{CENTRAL}?{query}"))).await, 400, "{query}");
    }
    for query in ["", "ts=1", "ts=1&type=MASTER_SUBACCOUNT_DELETION&page=0"] {
        assert_eq!(
            status(get(&world, &format!("/public/rest/v2/events?{query}"))).await,
            400,
            "{query}"
        );
    }
    assert_eq!(
        status(get(
            &world,
            "/entitlements/v1/services/other/plans/aws/subaccounts/sa/entitlements"
        ))
        .await,
        404
    );
}
