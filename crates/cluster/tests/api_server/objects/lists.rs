//! Lists of objects: namespaces that take their contents along, pages, and generated names.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::support::{refusal, start, thing};

#[tokio::test]
async fn a_namespace_takes_its_contents_along_and_waits_for_what_is_held() {
    let running = start().await;
    let client = running.client().await;
    let spaces: Api<Namespace> = Api::all(client.clone());
    let space: Namespace = serde_json::from_value(json!({"metadata": {"name": "team"}})).unwrap();
    spaces.create(&PostParams::default(), &space).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(client, "team");
    let map = |name: &str, holds: &[&str]| -> ConfigMap {
        serde_json::from_value(json!({"metadata": {"name": name, "finalizers": holds}})).unwrap()
    };
    maps.create(&PostParams::default(), &map("free", &[])).await.unwrap();
    maps.create(&PostParams::default(), &map("held", &["a.b/c"])).await.unwrap();

    spaces.delete("team", &DeleteParams::default()).await.unwrap();
    let phase = spaces.get("team").await.unwrap().status.unwrap().phase;
    let left: Vec<_> = maps.list(&ListParams::default()).await.unwrap().items;
    let late = maps.create(&PostParams::default(), &map("late", &[])).await.unwrap_err();
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("held", &PatchParams::default(), &free).await.unwrap();

    assert_eq!(phase.as_deref(), Some("Terminating"));
    assert_eq!(left.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["held"]);
    assert_eq!(refusal(late).0, 403);
    assert!(spaces.get_opt("team").await.unwrap().is_none());
}

#[tokio::test]
async fn pages_of_a_list_give_everything_once() {
    let running = start().await;
    let things = running.things().await;
    for n in 0..7 {
        let mut new = thing(&format!("t-{n}"), json!({}));
        new.labels_mut().insert("odd".into(), (n % 2 == 1).to_string());
        things.create(&PostParams::default(), &new).await.unwrap();
    }

    let mut params = ListParams::default().limit(3);
    let mut names = Vec::new();
    loop {
        let page = things.list(&params).await.unwrap();
        names.extend(page.items.iter().map(ResourceExt::name_any));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
    }
    let odd = things.list(&ListParams::default().labels("odd=true")).await.unwrap();
    let one = things.list(&ListParams::default().fields("metadata.name=t-3")).await.unwrap();

    assert_eq!(names, (0..7).map(|n| format!("t-{n}")).collect::<Vec<_>>());
    assert_eq!((odd.items.len(), one.items.len()), (3, 1));
}

#[tokio::test]
async fn names_are_generated_string_data_is_encoded_and_a_dry_run_stores_nothing() {
    let running = start().await;
    let secrets: Api<Secret> = Api::namespaced(running.client().await, "default");
    let secret: Secret = serde_json::from_value(
        json!({"metadata": {"generateName": "s-"}, "stringData": {"key": "value"}}),
    )
    .unwrap();

    let dry = PostParams { dry_run: true, ..PostParams::default() };
    secrets.create(&dry, &secret).await.unwrap();
    let none = secrets.list(&ListParams::default()).await.unwrap().items.len();
    let one = secrets.create(&PostParams::default(), &secret).await.unwrap();
    let two = secrets.create(&PostParams::default(), &secret).await.unwrap();
    secrets.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();

    assert_eq!(none, 0);
    assert!(one.name_any().starts_with("s-") && one.name_any() != two.name_any());
    assert_eq!(one.data.unwrap()["key"].0, b"value");
    assert!(secrets.list(&ListParams::default()).await.unwrap().items.is_empty());
}
