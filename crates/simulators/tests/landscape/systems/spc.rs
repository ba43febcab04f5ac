//! The notification service's own rules.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::ordinary::{call, objects, order};
use crate::world::{World, status};

fn said(world: &World, method: &str, what: &str, body: &Value) -> RequestBuilder {
    call(world, method, &format!("/spc/{what}MaintenanceEvent")).json(body)
}

async fn kept(world: &World) -> Value {
    objects(world, "spc").await[0]["value"].clone()
}

#[tokio::test]
async fn an_event_is_planned_active_and_cancelled() {
    let world = World::new().await;
    let time = "2023-04-01 22:00:00";
    let created = json!({
        "orchestrationId": "o-1", "eventType": "1",
        "tenants": [{ "instanceId": "i-1", "startDateTime": time },
            { "instanceId": "i-2", "startDateTime": "2023-04-01 22:00:00 +0000 UTC" }],
    });
    let begun = json!({
        "orchestrationId": "o-1",
        "tenants": [{ "instanceId": "i-1", "startDateTime": time, "eventState": "1" }],
    });
    let finished = json!({
        "orchestrationId": "o-1",
        "tenants": [{ "instanceId": "i-1", "endDateTime": time, "eventState": "2" }],
    });

    assert_eq!(status(said(&world, "POST", "create", &created)).await, 201);
    assert_eq!(kept(&world).await["status"], "planned");
    assert_eq!(status(said(&world, "PATCH", "update", &begun)).await, 200);
    assert_eq!(kept(&world).await["status"], "active");
    assert_eq!(status(said(&world, "PATCH", "update", &finished)).await, 200);
    let tenants = kept(&world).await["tenants"].clone();
    assert_eq!(tenants["i-1"], json!({ "progress": "finished", "start": time, "end": time }));
    assert_eq!(tenants["i-2"]["progress"], "planned");
    let id = json!({ "orchestrationId": "o-1" });
    assert_eq!(status(said(&world, "PATCH", "cancel", &id)).await, 200);
    assert_eq!(kept(&world).await["status"], "cancelled");
}

#[tokio::test]
async fn announcing_again_changes_nothing_that_has_begun() {
    let world = World::new().await;
    let created = json!({
        "orchestrationId": "o-1", "eventType": "0", "tenants": [{ "instanceId": "i-1" }],
    });
    let begun = json!({
        "orchestrationId": "o-1", "tenants": [{ "instanceId": "i-1", "eventState": "1" }],
    });
    said(&world, "POST", "create", &created).send().await.unwrap();
    said(&world, "PATCH", "update", &begun).send().await.unwrap();

    assert_eq!(status(said(&world, "POST", "create", &created)).await, 200);

    assert_eq!(kept(&world).await["tenants"]["i-1"]["progress"], "under-maintenance");
    order(&world, "spc", "refuse-twice", json!({ "on": true })).await;
    assert_eq!(status(said(&world, "POST", "create", &created)).await, 409);
}

#[tokio::test]
async fn a_runtime_that_was_cancelled_is_planned_again_when_it_is_announced_again() {
    let world = World::new().await;
    let created = json!({
        "orchestrationId": "o-1", "eventType": "0", "tenants": [{ "instanceId": "i-1" }],
    });
    let cancelled = json!({
        "orchestrationId": "o-1", "tenants": [{ "instanceId": "i-1", "eventState": "3" }],
    });
    said(&world, "POST", "create", &created).send().await.unwrap();
    said(&world, "PATCH", "update", &cancelled).send().await.unwrap();
    assert_eq!(kept(&world).await["tenants"]["i-1"]["progress"], "cancelled");

    assert_eq!(status(said(&world, "POST", "create", &created)).await, 200);

    assert_eq!(kept(&world).await["tenants"]["i-1"]["progress"], "planned");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let world = World::new().await;
    let created = |kind: Value, tenant: Value| json!({ "orchestrationId": "o-1", "eventType": kind, "tenants": [tenant] });
    let good = json!({ "instanceId": "i-1" });
    let wrong = [
        created(json!(0), good.clone()),
        created(json!("2"), good.clone()),
        created(json!("0"), json!({})),
        created(json!("0"), json!({ "instanceId": "" })),
        created(json!("0"), json!({ "instanceId": "i", "eventState": "9" })),
        created(json!("0"), json!({ "instanceId": "i", "startDateTime": "2023-04-01T22:00:00Z" })),
        json!({ "orchestrationId": "", "eventType": "0", "tenants": [] }),
    ];

    for body in wrong {
        assert_eq!(status(said(&world, "POST", "create", &body)).await, 400, "{body}");
    }
    let unknown = json!({ "orchestrationId": "o-9", "tenants": [] });
    assert_eq!(status(said(&world, "PATCH", "update", &unknown)).await, 404);
    assert_eq!(status(said(&world, "PATCH", "cancel", &unknown)).await, 404);
}
