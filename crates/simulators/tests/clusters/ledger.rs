//! Calls of clusters in the ledger: what, for whom, and whether something changed.

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchParams};
use serde_json::json;
use simulators::ledger::{Entry, Phase};

use crate::world::{PROJECT, World, connection_in, map, namespaced};

const HEADERS: [(&str, &str); 6] = [
    ("idempotency-key", "root/Create_Shoot/1"),
    ("x-kcp-operation", "operation-1"),
    ("x-kcp-step", "Create_Shoot"),
    ("x-kcp-run", "3"),
    ("x-kcp-epoch", "2"),
    ("x-kcp-replica", "one"),
];

fn applied(lines: &[Entry]) -> Vec<&str> {
    let applied = lines.iter().filter(|line| line.phase == Phase::Applied);
    applied.map(|line| line.object.as_deref().unwrap()).collect()
}

#[tokio::test]
async fn a_call_is_entered_with_its_object_its_key_and_its_caller() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client_with("garden", &HEADERS).await, PROJECT);

    maps.create(&PostParams::default(), &map("a")).await.unwrap();

    let lines = world.lines("gardener");
    let phases: Vec<Phase> = lines.iter().map(|line| line.phase).collect();
    assert_eq!(phases, [Phase::Received, Phase::Applied, Phase::Replied]);
    assert_eq!(applied(&lines), [format!("create configmaps/{PROJECT}/a")]);
    assert_eq!(lines[2].status, Some(201));
    for line in &lines {
        let about = &line.about;
        assert_eq!(about.route, format!("/clusters/garden/api/v1/namespaces/{PROJECT}/configmaps"));
        assert_eq!((about.method.as_str(), about.key.as_deref()), ("POST", Some(HEADERS[0].1)));
        assert_eq!(about.operation.as_deref(), Some("operation-1"));
        assert_eq!(about.step.as_deref(), Some("Create_Shoot"));
        assert_eq!((about.run, about.epoch), (Some(3), Some(2)));
        assert_eq!(about.replica.as_deref(), Some("one"));
    }
}

#[tokio::test]
async fn only_what_changed_something_is_applied() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client("garden").await, PROJECT);
    let by = PatchParams::default();
    let change = Patch::Merge(json!({"data": {"key": "value"}}));
    let dry = PostParams { dry_run: true, ..PostParams::default() };

    maps.create(&dry, &map("a")).await.unwrap();
    maps.create(&PostParams::default(), &map("a")).await.unwrap();
    maps.create(&PostParams::default(), &map("a")).await.unwrap_err();
    maps.patch("a", &by, &change).await.unwrap();
    maps.patch("a", &by, &change).await.unwrap();
    let held = Patch::Merge(json!({"metadata": {"finalizers": ["example.org/held"]}}));
    maps.patch("a", &by, &held).await.unwrap();
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("a", &by, &free).await.unwrap();
    maps.delete("a", &DeleteParams::default()).await.unwrap_err();
    maps.create(&PostParams::default(), &map("b")).await.unwrap();
    maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();

    let lines = world.lines("gardener");
    let gone = applied(&lines).pop().unwrap().to_owned();
    assert!(gone.starts_with("delete ") && gone.ends_with(&format!("configmaps/{PROJECT}")));
    let object = format!("configmaps/{PROJECT}/a");
    let expected = ["create", "patch", "patch", "delete", "patch"];
    let expected: Vec<String> = expected.map(|verb| format!("{verb} {object}")).to_vec();
    assert_eq!(applied(&lines)[..5], expected);
    assert_eq!(applied(&lines)[5], format!("create configmaps/{PROJECT}/b"));
    assert_eq!(applied(&lines).len(), 7);
}

#[tokio::test]
async fn a_watch_is_one_call_and_does_not_wait_for_its_end() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.client("kcp").await, "default");

    let mut events = maps.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    maps.create(&PostParams::default(), &map("seen")).await.unwrap();
    let event = events.next().await.unwrap().unwrap();

    assert!(
        matches!(event, kube::api::WatchEvent::Added(found) if found.metadata.name.as_deref() == Some("seen"))
    );
    let lines = world.lines("control-plane");
    let reads: Vec<Phase> =
        lines.iter().filter(|line| line.about.method == "GET").map(|line| line.phase).collect();
    assert_eq!(reads, [Phase::Received, Phase::Replied]);
}

#[tokio::test]
async fn the_landscapes_own_calls_are_in_no_ledger_and_meet_no_trouble() {
    let world = World::new().await;
    assert!(world.lines("gardener").is_empty(), "furnishing the garden is nobody's call");
    let client = world.runtime_with_agent("own").await;
    let id = world.registered("own").await;
    let (token, url) = world.one_time_token(&id).await;
    crate::world::ensure_namespace(&client, "kyma-system").await;
    world.write_configuration(&client, "kyma-system", &id, &token, &url).await;

    connection_in(&client, "Synchronized").await;

    let secrets = namespaced::<Secret>(&client, "kyma-system");
    assert!(secrets.get_opt("compass-agent-credentials").await.unwrap().is_some());
    let lines = world.lines("runtimes");
    assert!(applied(&lines).iter().all(|object| !object.contains("compass-agent-credentials")));
    assert!(!applied(&lines).iter().any(|object| object.contains("compassconnections")));
}
