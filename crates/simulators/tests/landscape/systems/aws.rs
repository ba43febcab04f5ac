//! EC2: signatures that name a key, a region and the time, and what is refused.

use reqwest::RequestBuilder;
use serde_json::json;

use crate::world::{World, send, status};

const DATE: &str = "20260101T120000Z";

pub(crate) fn call(world: &World, region: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    signed(world, &format!("AKIA/20260101/{region}/ec2/aws4_request"), DATE, fields)
}

fn signed(world: &World, credential: &str, date: &str, fields: &[(&str, &str)]) -> RequestBuilder {
    let mut form = vec![("Version", "2016-11-15")];
    form.extend(fields);
    let signature = "0".repeat(64);
    let header = format!(
        "AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=content-type;host;x-amz-date, Signature={signature}"
    );
    world.post("/aws/").header("x-amz-date", date).header("authorization", header).form(&form)
}

async fn refusal(request: RequestBuilder) -> (u16, String) {
    let answer = send(request).await;
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap();
    let code = text.split("<Code>").nth(1).and_then(|rest| rest.split("</Code>").next());
    (status, code.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn requests_need_a_signature_for_this_service_and_time() {
    let world = World::new().await;
    let list = [("Action", "DescribeVolumes")];
    let scope = "AKIA/20260101/eu-west-1/ec2/aws4_request";

    assert_eq!(refusal(signed(&world, scope, DATE, &list)).await.0, 200);
    let unsigned = world.post("/aws").form(&list);
    assert_eq!(refusal(unsigned).await, (400, "MissingAuthenticationToken".into()));
    for (scope, date) in [
        ("AKIA/20260101/eu-west-1/s3/aws4_request", DATE),
        ("AKIA/20251231/eu-west-1/ec2/aws4_request", DATE),
        ("AKIA", DATE),
        (scope, "yesterday"),
    ] {
        assert_eq!(
            refusal(signed(&world, scope, date, &list)).await,
            (400, "IncompleteSignature".into())
        );
    }
    let late = refusal(signed(&world, scope, "20260101T121600Z", &list)).await;
    assert_eq!(late, (400, "RequestExpired".into()));
    let order = world.control("POST", "/systems/aws/orders/add-key").json(&json!({"key": "AKIB"}));
    assert_eq!(status(order).await, 204);
    assert_eq!(refusal(signed(&world, scope, DATE, &list)).await, (401, "AuthFailure".into()));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_amazons_codes() {
    let world = World::new().await;
    let table: [(&[(&str, &str)], &str); 5] = [
        (&[], "MissingParameter"),
        (&[("Action", "RunInstances")], "InvalidAction"),
        (&[("Action", "DeleteVolume")], "MissingParameter"),
        (&[("Action", "DeleteVolume"), ("VolumeId", "vol-1")], "InvalidVolume.NotFound"),
        (&[("Action", "DescribeVolumes"), ("MaxResults", "many")], "InvalidParameterValue"),
    ];

    for (fields, code) in table {
        assert_eq!(refusal(call(&world, "eu-west-1", fields)).await, (400, code.to_owned()));
    }
}

#[tokio::test]
async fn volumes_belong_to_one_key_and_one_region() {
    let world = World::new().await;
    let order = world.control("POST", "/systems/aws/orders/add-volume");
    let with = json!({"key": "AKIA", "region": "eu-west-1"});
    assert_eq!(status(order.json(&with)).await, 204);

    let list = [("Action", "DescribeVolumes")];
    let text = async |request: RequestBuilder| send(request).await.text().await.unwrap();
    let own = text(call(&world, "eu-west-1", &list)).await;
    assert!(own.contains("<volumeId>vol-00000000000000001</volumeId>"), "{own}");
    assert!(own.contains("<status>available</status>"), "{own}");
    let elsewhere = text(call(&world, "us-east-1", &list)).await;
    assert!(elsewhere.contains("<volumeSet></volumeSet>"), "{elsewhere}");
    let other = signed(&world, "AKIB/20260101/eu-west-1/ec2/aws4_request", DATE, &list);
    assert!(text(other).await.contains("<volumeSet></volumeSet>"));
}

#[tokio::test]
async fn an_account_sees_the_regions_of_its_partition() {
    let world = World::new().await;
    let regions = async |from: &str| {
        let answer = send(call(&world, from, &[("Action", "DescribeRegions")])).await;
        let text = answer.text().await.unwrap();
        let each = text.split("<regionName>").skip(1).filter_map(|rest| rest.split('<').next());
        each.map(str::to_owned).collect::<Vec<_>>()
    };

    let (global, china) = (regions("eu-west-1").await, regions("cn-north-1").await);

    assert!(global.contains(&"us-east-1".to_owned()));
    assert!(!global.iter().any(|name| name.starts_with("cn-") || name.starts_with("us-gov-")));
    assert_eq!(china, ["cn-north-1", "cn-northwest-1"]);
}
