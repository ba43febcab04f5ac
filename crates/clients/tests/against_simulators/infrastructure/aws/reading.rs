//! Answers of EC2: all pages, and nothing made of a body that lacks its list.

use std::time::Duration;

use axum::response::IntoResponse;
use clients::{CallLimits, Kind};
use serde_json::json;

use super::{
    super::{
        support::{answering, noon},
        world::{World, aws},
    },
    add_volume,
};

#[tokio::test]
async fn a_body_that_lacks_the_list_is_not_an_empty_account() {
    let bodies = [
        "<DescribeVolumesResponse></DescribeVolumesResponse>",
        "<OtherResponse><volumeSet/></OtherResponse>",
        "<DescribeVolumesResponse><volumeSet><item/></volumeSet></DescribeVolumesResponse>",
        "<DescribeVolumesResponse><volumeSet/><nextToken>1</nextToken></DescribeVolumesResponse>",
        "",
    ];
    for body in bodies {
        let (url, _) = answering(move |_, _| body.into_response()).await;
        let error = aws(url, CallLimits::DEFAULT, &noon()).volumes("eu-west-1").await.unwrap_err();
        assert_eq!(error.kind, Kind::Malformed, "{body}");
    }
}

#[tokio::test]
async fn zones_are_read_from_all_pages() {
    let world = World::new().await;
    let aws = world.aws();
    world.order("aws", "set-page-size", json!({"size": 1})).await;

    assert_eq!(
        aws.zones("eu-west-1", "m6i.large").await.unwrap(),
        ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    );
    world
        .order("aws", "offer", json!({"region": "eu-west-1", "machine": "m6i.large", "zones": []}))
        .await;
    assert!(aws.zones("eu-west-1", "m6i.large").await.unwrap().is_empty());
}

#[tokio::test]
async fn hostile_values_arrive_as_they_are() {
    let world = World::new().await;
    let aws = world.aws();

    for id in ["vol&Action=Other", "a=b+c d", "\"\\\n", "ü𝕏", "<item>"] {
        add_volume(&world, id, "eu-west-1", false).await;
        let volumes = aws.volumes("eu-west-1").await.unwrap();
        assert!(volumes.iter().any(|volume| volume.id == id), "{id:?} {volumes:?}");
        aws.delete_volume("eu-west-1", id).await.unwrap();
    }
    world.clock.advance(Duration::from_secs(3));
    assert!(aws.volumes("eu-west-1").await.unwrap().is_empty());
}
