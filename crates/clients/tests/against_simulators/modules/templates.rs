//! The templates of Kymas, in both ways in which they are found.

use clients::{
    Kind,
    lifecycle_manager::{TemplateSource, Version},
};
use serde_json::{Value, json};

use super::{
    faults::for_each_fault,
    world::{NAMESPACE, World, changed, row},
};

const PATH: &str = "/clusters/kcp/api/v1/namespaces/kcp-system/configmaps";
const NAMED: TemplateSource<'_> = TemplateSource::Named("kyma-templates");

fn of(version: &str) -> TemplateSource<'_> {
    TemplateSource::OfVersion { version, default: "2.9.3" }
}

fn put(world: &World, name: &str, labels: &Value, data: &Value) {
    world.put(
        "kcp",
        &json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        }),
    );
}

#[tokio::test]
async fn a_template_is_found_by_name_and_by_version_and_plan() {
    let world = World::new().await;
    let modules = world.modules().await;

    let named = modules.template(NAMED, "aws").await.unwrap();
    let preview = modules.template(NAMED, "preview").await.unwrap();
    let released = modules.template(of("2.10.0"), "aws").await.unwrap();
    let early = modules.template(of("PR-17"), "aws").await.unwrap();

    assert_eq!(named, released);
    assert_eq!(named, early);
    assert_ne!(named, preview);
    assert_eq!((named.version(), named.namespace()), (Version::V1Beta2, NAMESPACE));
    assert_eq!(named.additional_components, Some(json!([])));
}

#[tokio::test]
async fn what_is_wrong_with_templates_is_told_apart() {
    let world = World::new().await;
    let modules = world.modules().await;
    let ours = json!({"keb-config": "true", "runtime-version-9.9.9": "true"});
    put(&world, "broken", &json!({}), &json!({"default": "kyma-template: 'kind: Other'"}));
    put(&world, "empty", &json!({}), &json!({}));
    put(&world, "one", &ours, &json!({}));
    put(&world, "two", &ours, &json!({}));

    let kind = async |source| modules.template(source, "aws").await.unwrap_err().kind;

    assert_eq!(kind(TemplateSource::Named("nobody")).await, Kind::NotFound);
    assert_eq!(kind(TemplateSource::Named("empty")).await, Kind::NotFound);
    assert_eq!(kind(TemplateSource::Named("broken")).await, Kind::Malformed);
    assert_eq!(kind(of("1.0.0")).await, Kind::NotFound);
    assert_eq!(kind(of("9.9.9")).await, Kind::Conflict);
}

#[tokio::test]
async fn reading_a_template_meets_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;

    for source in [NAMED, of("2.10.0")] {
        for_each_fault(
            world.side(),
            row("control-plane", "GET", PATH),
            changed,
            async |_| modules.template(source, "aws").await,
            |_, template| assert_eq!(template.namespace(), NAMESPACE),
        )
        .await;
    }
}
