//! What counts as a change of a Shoot, and how values are written.

use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use super::table::{JSON, SHOOTS, ask, change, settled};
use crate::support::{Garden, shoot, whole};

#[tokio::test(flavor = "multi_thread")]
async fn newer_gardeners_count_names_of_profiles_and_static_tokens_as_they_are_sent() {
    let Some(garden) = Garden::of_version(Version::V1_117, Speed::MAX).await else { return };
    let live = settled(&garden).await;

    for (request, counts) in [
        (r#"put spec/purpose="development""#, 0),
        (r#"put spec/cloudProfileName="nope""#, 1),
        ("put -spec/cloudProfileName", 1),
        ("put -spec/cloudProfile", 1),
        ("put spec/kubernetes/enableStaticTokenKubeconfig=false", 1),
        (r#"merge {"metadata":{"labels":{"a":"b"}}}"#, 0),
    ] {
        let (code, said) = change(&garden, &live, request).await;

        assert_eq!(code, 200, "{request}: {said}");
        let generation = |shoot: &Value| shoot["metadata"]["generation"].as_i64().unwrap();
        assert_eq!(generation(&said) - generation(&live), counts, "{request}");
        assert_eq!(said["spec"], live["spec"], "{request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn generations_count_bytes_of_the_provider_and_values_are_written_as_go_does() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut wanted = shoot("normal");
    wanted.data["spec"]["kubernetes"]["kubeAPIServer"] = json!({"eventTTL": "1h"});
    wanted.data["spec"]["extensions"] = json!([]);
    wanted.data["spec"]["provider"]["workers"][0]["labels"] = json!({});

    let made = garden.create(&wanted).await;

    let spec = &made.data["spec"];
    assert_eq!(spec["kubernetes"]["kubeAPIServer"]["eventTTL"], "1h0m0s");
    assert_eq!(spec.get("extensions"), None);
    assert_eq!(spec["provider"]["workers"][0].get("labels"), None);
    let mut next = whole(&made);
    let config = &mut next["spec"]["provider"]["controlPlaneConfig"];
    let entries: Vec<_> = config.as_object().unwrap().clone().into_iter().rev().collect();
    *config = Value::Object(entries.into_iter().collect());
    let path = format!("{SHOOTS}/normal");
    let (code, reordered) = ask(&garden, "PUT", &path, JSON, next.to_string()).await;
    let (_, same) = ask(&garden, "PUT", &path, JSON, reordered.to_string()).await;
    assert_eq!(code, 200, "{reordered}");
    assert_eq!(
        (&reordered["metadata"]["generation"], &same["metadata"]["generation"]),
        (&json!(2), &json!(2))
    );
}
