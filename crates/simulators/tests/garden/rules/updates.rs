//! Changes of a Shoot that is there, has its Seed and was reconciled: each is tried without being stored.

use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use super::table::{JSON, MERGE, SHOOTS, ask, base, changed, rows};
use crate::support::{Garden, shoot, whole};

/// The requests: `put` a changed Shoot; `merge`, `strategic` or `apply` a patch. A part of the Shoot such as `/status` and
/// a query may follow the word.
const TABLE: &str = include_str!("updates.txt");

/// A Shoot that has its Seed and was reconciled.
pub(super) async fn settled(garden: &Garden) -> Value {
    let one = format!("{SHOOTS}/tried");
    let (made, said) = ask(garden, "POST", SHOOTS, JSON, base("tried").to_string()).await;
    assert_eq!(made, 201, "{said}");
    let seed =
        json!({"spec": {"seedName": "aws-ha-eu1"}, "metadata": {"finalizers": ["gardener"]}});
    let (bound, said) =
        ask(garden, "PATCH", &format!("{one}/binding"), MERGE, seed.to_string()).await;
    assert_eq!(bound, 200, "{said}");
    assert_eq!(said["spec"]["networking"]["pods"], "100.96.0.0/11");
    let held = json!({"metadata": {"finalizers": ["gardener"]}});
    let (held, said) = ask(garden, "PATCH", &one, MERGE, held.to_string()).await;
    assert_eq!(held, 200, "{said}");
    let last = json!({"type": "Create", "state": "Succeeded", "progress": 100});
    let status = json!({"status": {"lastOperation": last, "technicalID": "shoot--kyma--tried"}});
    ask(garden, "PATCH", &format!("{one}/status"), MERGE, status.to_string()).await.1
}

/// Sends the request of a row.
pub(super) async fn send(garden: &Garden, live: &Value, request: &str) -> (u16, Value) {
    let (how, body) = request.split_once(' ').unwrap();
    let (how, query) = how.split_once('?').unwrap_or((how, ""));
    let (word, part) =
        how.split_once('/').map_or((how, ""), |(word, _)| (word, &how[word.len()..]));
    let dry = if query.contains("dryRun=") { "" } else { "dryRun=All&" };
    let path = format!("{SHOOTS}/tried{part}?{dry}{query}");
    let patch = |media: &'static str| ("PATCH", media, body.to_owned());
    let (method, media, body) = match word {
        "put" => ("PUT", JSON, changed(live, body).to_string()),
        "merge" => patch(MERGE),
        "strategic" => patch("application/strategic-merge-patch+json"),
        "apply" => {
            let mut config: Value = serde_json::from_str(body).unwrap();
            config["apiVersion"] = json!("core.gardener.cloud/v1beta1");
            config["kind"] = json!("Shoot");
            config["metadata"] = json!({"name": "tried"});
            ("PATCH", "application/apply-patch+yaml", config.to_string())
        }
        _ => panic!("unknown request: {request}"),
    };
    ask(garden, method, &path, media, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_get_the_answer_of_the_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let live = settled(&garden).await;
        let mut wrong = Vec::new();
        for row in rows(TABLE) {
            let (code, said) = send(&garden, &live, row.request).await;
            wrong.extend(row.judge(version, code, &said));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

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
        let (code, said) = send(&garden, &live, request).await;

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
