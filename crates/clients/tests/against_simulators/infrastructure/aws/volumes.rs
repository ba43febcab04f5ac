//! Volumes of an account: deleted once nothing uses them, and listed until they are gone.

use std::time::Duration;

use clients::{Kind, aws::Market};
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{super::world::World, add_volume};

#[tokio::test]
async fn nothing_is_deleted_while_a_volume_is_in_use() {
    let world = World::new().await;
    add_volume(&world, "vol-free", "eu-central-1", false).await;
    add_volume(&world, "vol-used", "us-east-1", true).await;

    let error = world.aws().clean_up(Market::Global).await.unwrap_err();

    assert_eq!(
        (error.kind, error.said.as_deref()),
        (Kind::Conflict, Some("volume vol-used is in use"))
    );
    let volumes = world.objects("aws", "volume").await;
    assert!(volumes.iter().all(|(_, volume)| volume["deleting_since"].is_null()));
    let refused = world.aws().delete_volume("us-east-1", "vol-used").await.unwrap_err();
    assert_eq!(refused.reason.as_deref(), Some("VolumeInUse"));
}

#[tokio::test]
async fn one_volume_that_stays_keeps_the_account_dirty() {
    let world = World::new().await;
    let aws = world.aws();
    for id in ["vol-1", "vol-2", "vol-3"] {
        add_volume(&world, id, "eu-central-1", false).await;
    }
    world.order("aws", "curse-volume", json!({"id": "vol-1"})).await;

    assert_eq!(aws.clean_up(Market::Global).await.unwrap_err().kind, Kind::Unavailable);
    world.clock.advance(Duration::from_secs(3));
    assert_eq!(aws.volumes("eu-central-1").await.unwrap().len(), 1);
    world.order("aws", "curse-volume", json!({"id": "vol-1", "on": false})).await;
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 1);
    world.clock.advance(Duration::from_secs(3));
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 0);
}

#[tokio::test]
async fn a_volume_whose_deletion_was_not_heard_of_is_deleted_all_the_same() {
    let world = World::new().await;
    let aws = world.aws();
    add_volume(&world, "vol-1", "eu-central-1", false).await;
    world.trouble("aws", "POST", 1, Trouble::LostAnswer { status: None });

    let lost = aws.delete_volume("eu-central-1", "vol-1").await.unwrap_err();
    aws.delete_volume("eu-central-1", "vol-1").await.unwrap();
    world.clock.advance(Duration::from_secs(3));
    aws.delete_volume("eu-central-1", "vol-1").await.unwrap();

    assert_eq!(lost.kind, Kind::AnswerLost);
    assert!(world.objects("aws", "volume").await.is_empty());
}
