//! The availability service as a whole: evaluations from their making to their end.

mod repetition;

use clients::{
    Kind,
    avs::{Evaluation, NewEvaluation, Scope, Status},
};
use serde_json::json;
use simulators::trouble;

use super::{
    test_systems::RUNTIME,
    world::{World, on},
};

const OUTSIDE: Scope<'_> = Scope::External { domain: "c-1.example.com " };

async fn created(world: &World, scope: Scope<'_>) -> Evaluation {
    let avs = world.place().avs();
    avs.create(&NewEvaluation::of(avs.settings(), &RUNTIME, scope)).await.unwrap()
}

#[tokio::test]
async fn an_evaluation_lives_from_create_to_delete() {
    let world = World::new().await;
    let avs = world.place().avs();

    let made = created(&world, Scope::Internal).await;
    assert_eq!((made.id, made.status), (910_001, Status::Active));
    for tag in avs.settings().additional_tags("c-1", "seed", "eu") {
        assert!(!avs.get(made.id).await.unwrap().has(&tag));
        assert!(avs.add_tag(made.id, &tag).await.unwrap().has(&tag));
    }
    let working = avs.set_status(made.id, Status::Maintenance).await.unwrap();
    assert_eq!(working.status, Status::Maintenance);
    assert_eq!(avs.get(made.id).await.unwrap(), working);

    avs.unlink(77, made.id).await.unwrap();
    avs.delete(made.id).await.unwrap();
    assert_eq!(avs.get(made.id).await.unwrap_err().kind, Kind::NotFound);
    assert_eq!(world.objects("avs", "evaluation").await.len(), 0);
    assert_eq!(world.objects("avs", "parent").await[0]["value"], json!({ "children": [] }));
}

#[tokio::test]
async fn the_scope_decides_who_tests_what() {
    let world = World::new().await;
    created(&world, OUTSIDE).await;
    let settings = world.place().avs_settings();
    let trial = clients::avs::Runtime { plan: "trial", ..RUNTIME };

    let inside = NewEvaluation::of(&settings, &trial, Scope::Internal);
    let outside = NewEvaluation::of(&settings, &trial, OUTSIDE);

    let kept = &world.objects("avs", "evaluation").await[0]["value"];
    assert_eq!(kept["url"], "https://healthz.c-1.example.com/healthz/ready");
    assert_eq!(kept["name"], "K8S-AWS-Kyma-ext-0b1c-demo");
    assert_eq!(kept["tags"][0]["content"], "c");
    assert_eq!((inside.tester_access_id, inside.group_id, inside.parent_id), (1, 2, 3));
    assert_eq!((outside.tester_access_id, outside.group_id, outside.parent_id), (50, 41, 77));
    assert_eq!(settings.parent_of("free", Scope::Internal), 3);
    assert_eq!(settings.parent_of("aws", Scope::Internal), 77);
}

#[tokio::test]
async fn a_parent_that_does_not_have_the_child_is_no_failure_but_other_refusals_are() {
    let world = World::new().await;
    let avs = world.place().avs();
    avs.unlink(77, 5).await.unwrap();

    let answers = [
        (r#"{"status":400,"message":"EVALUATION 40 DOES NOT CONTAIN SUBEVALUATION 7"}"#, true),
        (r#"{"status":400,"message":"no"}"#, false),
        (r#"{"message":7}"#, false),
        ("does not contain subevaluation", false),
    ];
    for (body, fine) in answers {
        let refusal = trouble::Kind::Status { status: 400, body: Some(body.into()) };
        world.trouble("avs", 1, refusal);

        assert_eq!(avs.unlink(77, 5).await.is_ok(), fine, "{body}");
    }
}

#[tokio::test]
async fn what_we_do_not_read_cannot_disturb_us() {
    let world = World::new().await;
    world.order("avs", "threshold-as-text", on()).await;
    let avs = world.place().avs();
    let id = created(&world, Scope::Internal).await.id;
    let strange = json!({ "id": id, "status": "DREAMING", "tags": null, "new": [] }).to_string();
    world.trouble("avs", 1, trouble::Kind::Malformed { body: Some(strange) });

    let read = avs.get(id).await.unwrap();

    assert_eq!(read.status, Status::Unknown);
    assert_eq!(read.status.to_restore(), Status::Active);
    assert_eq!(
        avs.set_status(id, Status::Unknown).await.unwrap_err().kind,
        Kind::Refused { status: 400 }
    );
    let other = json!({ "id": id + 1 }).to_string();
    world.trouble("avs", 1, trouble::Kind::Malformed { body: Some(other) });
    let error = avs.get(id).await.unwrap_err();
    assert_eq!(error.said.as_deref(), Some("it answered for another evaluation"));
}
