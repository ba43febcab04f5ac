//! Values that try to be more than values: they arrive as they are, or are refused (C9).

use clients::{
    Kind,
    director::Registration,
    runtime::{Connection, Content},
};
use serde_json::json;

use crate::{
    garden::{Garden, shoot},
    world::{TENANT, World},
};

fn hostile() -> Vec<String> {
    let long = "ü".repeat(5_000);
    let texts = ["\"} { x }", "back\\slash", "new\nline", "$in", "a&b=c%20+d", "𝕏", "'; --", &long];
    texts.map(str::to_owned).to_vec()
}

#[tokio::test]
async fn hostile_texts_survive_the_way_to_the_director_and_back() {
    let world = World::new().await;
    let director = world.director();

    for (number, text) in hostile().into_iter().enumerate() {
        let labels = json!({"broker_instance_id": text, "nested": {"a": [text]}});
        let registration = Registration {
            name: format!("c-{number}"),
            description: Some(text.chars().take(1_000).collect()),
            labels: labels.as_object().unwrap().clone(),
            condition: None,
        };
        let id = director.register(TENANT, &registration).await.unwrap();

        let read = director.runtime(TENANT, &id).await.unwrap().unwrap();
        assert_eq!(read.labels["nested"], json!({"a": [text]}));
        assert_eq!(read.description, registration.description);
        assert_eq!(director.find_by_instance(TENANT, &text).await.unwrap(), Some(id));
        assert_eq!(director.runtime(TENANT, &text).await.unwrap(), None);
    }
    assert_eq!(world.applied("director").len(), hostile().len());
}

#[tokio::test]
async fn hostile_names_reach_no_other_object_of_a_cluster() {
    let garden = Garden::start().await;
    let gardener = garden.gardener().await;
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();
    let mut names = hostile();
    names.extend(
        ["c-1/status", "c-1?dryRun=All", "../shoots/c-1", "..", "", "c-1#", "%63-1"]
            .map(Into::into),
    );

    for name in names {
        let made = gardener.create(&shoot(&name, "r-2")).await.unwrap_err();
        assert!(matches!(made.kind, Kind::Refused { .. } | Kind::NotFound), "{name}: {made:?}");
        let changed = gardener.merge(&name, &json!({"spec": {"region": "us"}})).await;
        assert!(changed.is_err(), "{name}");
        let _ = gardener.delete(&name).await;
    }

    let found = garden.server.list("garden", crate::garden::SHOOTS);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["spec"]["region"], "eu");
}

#[tokio::test]
async fn hostile_values_survive_the_way_to_a_cluster_and_back() {
    let garden = Garden::start().await;
    let (gardener, runtime) = (garden.gardener().await, garden.runtime().await);

    for (number, text) in hostile().into_iter().enumerate() {
        let mut made = shoot(&format!("c-{number}"), &text);
        made.spec.rest.insert("text".into(), json!({&text: [text]}));
        gardener.create(&made).await.unwrap();
        let data = [("key".into(), text.clone().into())].into();
        let content = Content { data, ..Content::default() };
        runtime.write_secret("kyma-system", "s", &content).await.unwrap();

        let read = gardener.shoot(made.name()).await.unwrap().unwrap();
        assert_eq!(read.spec.rest["text"], json!({&text: [text]}));
        assert_eq!(read.metadata.annotations, made.metadata.annotations);
        let secret = runtime.secret("kyma-system", "s").await.unwrap().unwrap();
        assert_eq!(secret["key"], text.as_bytes());
    }
    assert_eq!(runtime.connection().await.unwrap(), Connection::Missing);
}
