//! EC2: golden requests, and codes of refusals.

mod accounts;
mod reading;
mod volumes;

use axum::{http::StatusCode, response::IntoResponse};
use clients::{CallLimits, Kind};
use serde_json::json;

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
