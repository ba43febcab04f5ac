//! Calls of `AvS` that are repeated: after lost answers and after a token was withdrawn.

use clients::{
    Kind,
    avs::{NewEvaluation, Scope},
};

use super::{
    super::{
        test_systems::RUNTIME,
        world::{World, lost},
    },
    created,
};

#[tokio::test]
async fn deleting_may_be_repeated_and_its_lost_answers_do_no_harm() {
    let world = World::new().await;
    let avs = world.place().avs();
    let id = created(&world, Scope::Internal).await.id;
    world.trouble("avs", 1, lost());

    assert_eq!(avs.unlink(77, id).await.unwrap_err().kind, Kind::AnswerLost);
    avs.unlink(77, id).await.unwrap();
    world.trouble("avs", 1, lost());
    assert_eq!(avs.delete(id).await.unwrap_err().kind, Kind::AnswerLost);
    avs.delete(id).await.unwrap();
    avs.delete(id).await.unwrap();

    assert_eq!(world.objects("avs", "evaluation").await.len(), 0);
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_says_so_and_leaves_one_behind() {
    let world = World::new().await;
    let avs = world.place().avs();
    let wanted = NewEvaluation::of(avs.settings(), &RUNTIME, Scope::Internal);
    world.trouble("avs", 1, lost());

    let error = avs.create(&wanted).await.unwrap_err();

    assert_eq!(error.kind, Kind::AnswerLost, "so that the caller knows that it may be there");
    assert_eq!(world.objects("avs", "evaluation").await.len(), 1);
    assert_eq!(world.received("avs").len(), 1, "the client does not try again by itself");
}

#[tokio::test]
async fn tags_are_there_once_whatever_answers_are_lost() {
    let world = World::new().await;
    let avs = world.place().avs();
    let id = created(&world, Scope::Internal).await.id;
    let tags = avs.settings().additional_tags("c-1", "seed", "eu");
    let path = "/avs/api/v2/evaluationmetadata/910001/tag";

    world.trouble_on("POST", path, lost());
    assert_eq!(avs.ensure_tags(id, &tags).await.unwrap_err().kind, Kind::AnswerLost);
    world.trouble_on("POST", path, lost());
    assert_eq!(avs.ensure_tags(id, &tags).await.unwrap_err().kind, Kind::AnswerLost);
    avs.ensure_tags(id, &tags).await.unwrap();
    avs.ensure_tags(id, &tags).await.unwrap();

    assert_eq!(avs.get(id).await.unwrap().tags, tags);
}

#[tokio::test]
async fn a_token_that_was_withdrawn_is_renewed_within_the_call() {
    let world = World::new().await;
    let id = created(&world, Scope::Internal).await.id;
    let avs = world.place().avs();
    avs.get(id).await.unwrap();

    world.running.landscape.issuer().expire_tokens().unwrap();
    world.clock.advance(std::time::Duration::from_secs(1));

    avs.get(id).await.unwrap();
    let reads = world.received("avs").iter().filter(|line| line.starts_with("GET")).count();
    assert_eq!(reads, 3);
    // One for the creation, one for the first reading, one instead of it.
    assert_eq!(world.received("issuer").len(), 3);
}
