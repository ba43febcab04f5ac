//! Creating, reading, changing and deleting.

mod lists;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::support::{refusal, start, thing};

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_parallel_puts_with_one_version_exactly_one_wins() {
    let running = start().await;
    let things = running.things().await;
    let live = things.create(&PostParams::default(), &thing("a", json!({"n": 0}))).await.unwrap();

    let puts = (1..=100).map(|n| {
        let (things, mut mine) = (things.clone(), live.clone());
        mine.data = json!({"spec": {"n": n}});
        tokio::spawn(async move { things.replace("a", &PostParams::default(), &mine).await })
    });
    let mut won = 0;
    for put in puts.collect::<Vec<_>>() {
        match put.await.unwrap() {
            Ok(_) => won += 1,
            Err(error) => assert_eq!(refusal(error).1, "Conflict"),
        }
    }

    assert_eq!(won, 1);
    assert_eq!(things.get("a").await.unwrap().metadata.generation, Some(2));
}

#[tokio::test]
async fn spec_and_status_are_written_apart_and_only_the_spec_counts_generations() {
    let running = start().await;
    let things = running.things().await;
    let mut new = thing("a", json!({"n": 1}));
    new.data["status"] = json!({"state": "made up"});
    let made = things.create(&PostParams::default(), &new).await.unwrap();
    let patch = |body| Patch::Merge(body);

    let body = patch(json!({"spec": {"n": 9}, "status": {"state": "ready"}}));
    let by_status = things.patch_status("a", &PatchParams::default(), &body).await.unwrap();
    let body = patch(json!({"spec": {"n": 2}, "status": {"state": "no"}}));
    let by_spec = things.patch("a", &PatchParams::default(), &body).await.unwrap();
    let again = things.patch("a", &PatchParams::default(), &body).await.unwrap();

    assert_eq!(made.data, json!({"spec": {"n": 1}}));
    assert_eq!(by_status.data, json!({"spec": {"n": 1}, "status": {"state": "ready"}}));
    assert_eq!(by_status.metadata.generation, Some(1));
    assert_eq!(by_spec.data, json!({"spec": {"n": 2}, "status": {"state": "ready"}}));
    assert_eq!(by_spec.metadata.generation, Some(2));
    assert_eq!(again.metadata.resource_version, by_spec.metadata.resource_version);
}

#[tokio::test]
async fn refusals_have_the_reasons_and_codes_of_kubernetes() {
    let running = start().await;
    let things = running.things().await;
    let post = PostParams::default();
    things.create(&post, &thing("a", json!({}))).await.unwrap();
    let elsewhere: Api<ConfigMap> = Api::namespaced(running.client().await, "nowhere");

    let taken = things.create(&post, &thing("a", json!({}))).await.unwrap_err();
    let missing = things.get("b").await.unwrap_err();
    let misnamed = things.create(&post, &thing("A_B", json!({}))).await.unwrap_err();
    let nameless = things.create(&post, &thing("", json!({}))).await.unwrap_err();
    let homeless = elsewhere.create(&post, &ConfigMap::default()).await.unwrap_err();
    let blind = things.replace("a", &post, &thing("a", json!({}))).await.unwrap_err();
    let strategic = Patch::Strategic(json!({"spec": {"n": 1}}));
    let strategic = things.patch("a", &PatchParams::default(), &strategic).await.unwrap_err();

    let told = |error| {
        let (code, reason, _) = refusal(error);
        (code, reason)
    };
    assert_eq!(told(taken), (409, "AlreadyExists".into()));
    assert_eq!(told(missing), (404, "NotFound".into()));
    assert_eq!(told(misnamed), (422, "Invalid".into()));
    assert_eq!(told(nameless), (422, "Invalid".into()));
    assert!(matches!(told(homeless), (404 | 422, _)));
    assert_eq!(told(blind), (422, "Invalid".into()));
    assert_eq!(told(strategic), (415, "UnsupportedMediaType".into()));
}

#[tokio::test]
async fn an_object_with_finalizers_goes_when_the_last_one_is_removed() {
    let running = start().await;
    let things = running.things().await;
    let mut new = thing("a", json!({}));
    new.metadata.finalizers = Some(vec!["example.org/hold".into()]);
    things.create(&PostParams::default(), &new).await.unwrap();

    let going = things.delete("a", &DeleteParams::default()).await.unwrap().unwrap_left();
    let add = Patch::Merge(json!({"metadata": {"finalizers": ["example.org/hold", "x.y/more"]}}));
    let refused = things.patch("a", &PatchParams::default(), &add).await.unwrap_err();
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    things.patch("a", &PatchParams::default(), &free).await.unwrap();

    assert!(going.metadata.deletion_timestamp.is_some());
    assert_eq!(going.metadata.generation, Some(2));
    assert_eq!(refusal(refused).0, 422);
    assert!(things.get_opt("a").await.unwrap().is_none());
}
