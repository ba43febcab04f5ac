//! EC2: golden requests, codes, pages, and an empty account at the end.

use std::time::Duration;

use axum::{http::StatusCode, response::IntoResponse};
use clients::{CallLimits, Kind, aws::Market};
use serde_json::json;
use simulators::trouble::Kind as Trouble;

use super::{
    support::{answering, noon},
    world::{KEY, World, aws},
};

async fn add_volume(world: &World, id: &str, region: &str, in_use: bool) {
    let with = json!({"key": KEY, "id": id, "region": region, "in_use": in_use});
    world.order("aws", "add-volume", with).await;
}

#[tokio::test]
async fn requests_are_what_amazon_documents() {
    let (url, heard) = answering(|_, heard| {
        let action = heard.body.split('&').next().unwrap().strip_prefix("Action=").unwrap();
        let lists = "<volumeSet/><instanceTypeOfferingSet/><regionInfo/>";
        format!("<{action}Response>{lists}</{action}Response>").into_response()
    })
    .await;
    let host = format!("127.0.0.1:{}", url.port().unwrap());
    let aws = aws(url, CallLimits::DEFAULT, &noon());

    aws.volumes("eu-west-1").await.unwrap();
    aws.delete_volume("eu-west-1", "vol-1").await.unwrap();
    aws.zones("cn-north-1", "m6i.large").await.unwrap();
    aws.regions("eu-central-1").await.unwrap();

    let all = heard.all();
    let bodies: Vec<&str> = all.iter().map(|heard| heard.body.as_str()).collect();
    assert_eq!(
        bodies,
        [
            "Action=DescribeVolumes&Version=2016-11-15&MaxResults=500",
            "Action=DeleteVolume&Version=2016-11-15&VolumeId=vol-1",
            "Action=DescribeInstanceTypeOfferings&Version=2016-11-15&LocationType=availability-zone\
         &Filter.1.Name=instance-type&Filter.1.Value.1=m6i.large&MaxResults=500",
            "Action=DescribeRegions&Version=2016-11-15",
        ]
    );
    for (heard, region) in all.iter().zip(["eu-west-1", "eu-west-1", "cn-north-1", "eu-central-1"])
    {
        assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/"));
        assert_eq!(heard.header("host"), Some(host.as_str()));
        assert_eq!(heard.header("x-amz-date"), Some("20260101T120000Z"));
        let form = "application/x-www-form-urlencoded; charset=utf-8";
        assert_eq!(heard.header("content-type"), Some(form));
        let signed = format!(
            "AWS4-HMAC-SHA256 Credential={KEY}/20260101/{region}/ec2/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, Signature="
        );
        assert!(heard.header("authorization").unwrap().starts_with(&signed));
    }
}

#[tokio::test]
async fn codes_say_what_a_refusal_means() {
    let table = [
        (401, "AuthFailure", Kind::Unauthorized),
        (403, "UnauthorizedOperation", Kind::Unauthorized),
        (503, "RequestLimitExceeded", Kind::Throttled { retry_after: None }),
        (400, "VolumeInUse", Kind::Conflict),
        (400, "InvalidParameterValue", Kind::Refused { status: 400 }),
        (500, "InternalError", Kind::Unavailable),
        (503, "Unavailable", Kind::Unavailable),
    ];

    for (status, code, kind) in table {
        let (url, _) = answering(move |_, _| {
            let error = format!("<Error><Code>{code}</Code><Message>a &lt; b</Message></Error>");
            let body = format!("<Response><Errors>{error}</Errors></Response>");
            (StatusCode::from_u16(status).unwrap(), body).into_response()
        })
        .await;
        let error = aws(url, CallLimits::DEFAULT, &noon()).volumes("eu-west-1").await.unwrap_err();

        assert_eq!((error.kind, error.reason.as_deref()), (kind, Some(code)));
        assert_eq!(error.said.as_deref(), Some("a < b"));
    }
}

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
async fn a_key_that_is_refused_is_unauthorized() {
    let world = World::new().await;
    let aws = world.aws();

    world.order("aws", "forbid", json!({"action": "DescribeVolumes"})).await;
    let forbidden = aws.volumes("eu-west-1").await.unwrap_err();
    world.order("aws", "refuse-key", json!({"key": KEY})).await;
    let refused = aws.volumes("eu-west-1").await.unwrap_err();

    assert_eq!(forbidden.reason.as_deref(), Some("UnauthorizedOperation"));
    assert_eq!(
        (refused.kind, refused.reason.as_deref()),
        (Kind::Unauthorized, Some("AuthFailure"))
    );
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
