//! Accounts of AWS: empty only when nothing is left in any region that can be asked.

use std::time::Duration;

use axum::response::IntoResponse;
use clients::{CallLimits, Kind, aws::Market};
use serde_json::json;

use super::{
    super::{
        support::{answering, noon},
        world::{KEY, World, aws},
    },
    add_volume,
};

#[tokio::test]
async fn an_account_is_empty_only_when_nothing_is_left() {
    let world = World::new().await;
    let aws = world.aws();
    aws.check().await.unwrap();
    world.order("aws", "set-page-size", json!({"size": 2})).await;
    for number in 0..5 {
        add_volume(&world, &format!("vol-{number}"), "eu-central-1", false).await;
    }
    add_volume(&world, "vol-far", "ap-southeast-2", false).await;

    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 6);
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 6, "they are still being deleted");
    world.clock.advance(Duration::from_secs(3));
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 0);
}

#[tokio::test]
async fn a_volume_in_a_region_that_is_not_listed_here_is_deleted_too() {
    let world = World::new().await;
    let aws = world.aws();
    for region in ["eu-north-1", "us-east-2"] {
        assert_ne!(Market::Global.home(), region);
        add_volume(&world, &format!("vol-{region}"), region, false).await;
    }

    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 2);
    world.clock.advance(Duration::from_secs(3));
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 0);
    assert!(world.objects("aws", "volume").await.is_empty());
}

#[tokio::test]
async fn an_account_whose_regions_cannot_be_listed_is_not_empty() {
    let world = World::new().await;
    add_volume(&world, "vol-1", "eu-central-1", false).await;
    world.order("aws", "forbid", json!({"action": "DescribeRegions"})).await;

    let forbidden = world.aws().clean_up(Market::Global).await.unwrap_err();

    assert_eq!(forbidden.reason.as_deref(), Some("UnauthorizedOperation"));
    let bodies = [
        "<DescribeRegionsResponse></DescribeRegionsResponse>",
        "<DescribeRegionsResponse><regionInfo/></DescribeRegionsResponse>",
        "<DescribeRegionsResponse><regionInfo><item/></regionInfo></DescribeRegionsResponse>",
    ];
    for body in bodies {
        let (url, _) = answering(move |_, _| body.into_response()).await;
        let aws = aws(url, CallLimits::DEFAULT, &noon());
        assert_eq!(aws.clean_up(Market::Global).await.unwrap_err().kind, Kind::Malformed, "{body}");
    }
}

#[tokio::test]
async fn a_region_that_the_account_has_not_opted_in_to_does_not_keep_it_dirty() {
    let world = World::new().await;
    let aws = world.aws();
    add_volume(&world, "vol-1", "eu-west-1", false).await;
    world.order("aws", "close-region", json!({"key": KEY, "region": "eu-south-1"})).await;

    let refused = aws.volumes("eu-south-1").await.unwrap_err();
    assert_eq!(
        (refused.kind, refused.reason.as_deref()),
        (Kind::Unauthorized, Some("OptInRequired"))
    );
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 1);
    world.clock.advance(Duration::from_secs(3));
    assert_eq!(aws.clean_up(Market::Global).await.unwrap(), 0);

    let open = json!({"key": KEY, "region": "eu-south-1", "on": false});
    world.order("aws", "close-region", open).await;
    assert!(aws.volumes("eu-south-1").await.unwrap().is_empty());
}
