//! The availability service's own rules.

use serde_json::{Value, json};

use super::ordinary::{EVALUATIONS, call, evaluation, objects, order};
use crate::world::{World, json, send, status};

async fn created(world: &World) -> Value {
    json(call(world, "POST", EVALUATIONS).json(&evaluation("one"))).await
}

#[tokio::test]
async fn an_evaluation_comes_back_with_all_its_fields() {
    let world = World::new().await;

    let made = created(&world).await;

    let mut expected = evaluation("one");
    expected.as_object_mut().unwrap().remove("parent_id");
    let more = json!({
        "threshold": 30000, "tags": [], "id": 910_001, "legacy_check_id": 910_001,
        "id_on_tester": "910001", "dateCreated": 1_767_268_800, "dateChanged": 1_767_268_800,
        "owner": "kcp", "status": "ACTIVE", "alerts": [], "internal_interval": 60,
        "auth_type": "AUTH_NONE", "individual_outage_events_only": false,
    });
    expected.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assert_eq!(made, expected);
    let read = call(&world, "GET", &format!("{EVALUATIONS}/910001"));
    assert_eq!(json(read).await, expected);
}

#[tokio::test]
async fn a_collection_with_a_slash_at_its_end_is_the_same() {
    let world = World::new().await;
    let path = format!("{EVALUATIONS}/");

    assert_eq!(status(call(&world, "POST", &path).json(&evaluation("one"))).await, 201);
}

#[tokio::test]
async fn tags_and_statuses_are_set_and_unknown_ones_are_refused() {
    let world = World::new().await;
    created(&world).await;
    let tag = json!({ "content": "c-1", "tag_class_id": 251, "tag_class_name": "" });
    let one = format!("{EVALUATIONS}/910001");

    let tagged = json(call(&world, "POST", &format!("{one}/tag")).json(&tag)).await;
    assert_eq!(tagged["tags"], json!([tag]));
    for wanted in ["MAINTENANCE", "INACTIVE", "RETIRED", "DELETED", "ACTIVE"] {
        let set = call(&world, "PUT", &format!("{one}/lifecycle")).json(&wanted);
        assert_eq!(json(set).await["status"], wanted);
    }
    let set = call(&world, "PUT", &format!("{one}/lifecycle")).json("SLEEPING");
    assert_eq!(status(set).await, 500);
    let elsewhere = format!("{EVALUATIONS}/5/tag");
    assert_eq!(status(call(&world, "POST", &elsewhere).json(&tag)).await, 404);
}

#[tokio::test]
async fn a_deleted_evaluation_stays_a_child_until_it_is_unlinked() {
    let world = World::new().await;
    created(&world).await;
    let delete = |path: &str| call(&world, "DELETE", &format!("{EVALUATIONS}/{path}"));

    assert_eq!(status(delete("910001")).await, 200);
    assert_eq!(status(delete("910001")).await, 404);
    assert_eq!(objects(&world, "avs").await[0]["value"], json!({ "children": [910_001] }));
    assert_eq!(status(delete("77/child/910001")).await, 200);
    let again = send(delete("77/child/910001")).await;
    assert_eq!(again.status(), 400);
    let refusal = json!({
        "status": 400, "message": "Evaluation 77 does not contain subevaluation 910001",
    });
    assert_eq!(again.json::<Value>().await.unwrap(), refusal);
}

#[tokio::test]
async fn what_the_real_one_refuses_is_refused() {
    let world = World::new().await;
    let long = "x".repeat(81);
    let table = [
        ("name", json!(long)),
        ("name", json!("")),
        ("description", json!("x".repeat(256))),
        ("definition_type", json!("SPECIAL")),
        ("threshold", json!(30000)),
        ("threshold", json!("soon")),
        ("interval", json!(0)),
        ("tester_access_id", json!("40")),
    ];

    for (field, value) in table {
        let mut wrong = evaluation("one");
        wrong[field] = value;
        assert_eq!(status(call(&world, "POST", EVALUATIONS).json(&wrong)).await, 400, "{field}");
    }
    assert_eq!(objects(&world, "avs").await.len(), 0);
}

#[tokio::test]
async fn blanks_around_an_address_are_trimmed() {
    let world = World::new().await;
    let mut asked = evaluation("one");
    asked["url"] = json!(" https://healthz.x/healthz/ready ");

    let made = json(call(&world, "POST", EVALUATIONS).json(&asked)).await;

    assert_eq!(made["url"], "https://healthz.x/healthz/ready");
}

#[tokio::test]
async fn the_threshold_may_come_back_as_a_text() {
    let world = World::new().await;
    assert_eq!(order(&world, "avs", "threshold-as-text", json!({ "on": true })).await, 204);

    assert_eq!(created(&world).await["threshold"], "30000");
}
