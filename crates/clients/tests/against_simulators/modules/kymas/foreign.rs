//! Kymas of somebody else, and hostile names.

use clients::{Kind, lifecycle_manager::DOMAIN_ANNOTATION};
use serde_json::json;
use simulators::lifecycle_manager::KYMAS;

use super::{
    super::world::{NAMESPACE, World},
    SKIP, ours, template,
};

#[tokio::test]
async fn a_kyma_of_somebody_else_or_on_its_way_out_is_not_touched() {
    let world = World::new().await;
    let modules = world.modules().await;
    modules.apply(&template(), "theirs", &ours("other")).await.unwrap();
    world.put(
        "kcp",
        &json!({
            "apiVersion": "operator.kyma-project.io/v1beta2", "kind": "Kyma",
            "metadata": {"name": "going", "namespace": NAMESPACE, "finalizers": ["a.example/b"],
                "labels": {SKIP.0: SKIP.1}},
            "spec": {"channel": "fast"},
        }),
    );
    modules.delete(NAMESPACE, "going").await.unwrap();

    let theirs = modules.apply(&template(), "theirs", &ours("i")).await.unwrap_err();
    let going = modules.apply(&template(), "going", &ours("i")).await.unwrap_err();
    let missing = modules.set_marks(NAMESPACE, "nobody", &ours("i")).await.unwrap_err();

    assert_eq!(theirs.kind, Kind::Conflict, "{theirs}");
    assert_eq!(going.kind, Kind::Busy, "{going}");
    assert_eq!(missing.kind, Kind::NotFound, "{missing}");
    let found = world.object("kcp", KYMAS, NAMESPACE, "theirs").unwrap();
    assert_eq!(found["metadata"]["labels"]["kyma-project.io/instance-id"], "other");
}

#[tokio::test]
async fn hostile_names_are_refused_and_hostile_marks_survive() {
    let world = World::new().await;
    let modules = world.modules().await;
    let mut hostile = ours("i");
    let domain = format!("\"\\\n ü {}", "x".repeat(10_000));
    hostile.annotations.insert(DOMAIN_ANNOTATION.into(), domain.clone());

    for name in ["", "..", "a/b", "a%2Fb", "A\"b", "a\nb"] {
        let refused = modules.apply(&template(), name, &hostile).await.unwrap_err();
        assert!(matches!(refused.kind, Kind::Refused { .. }), "{name:?}: {refused:?}");
    }
    modules.apply(&template(), "k", &hostile).await.unwrap();

    let found = modules.find(NAMESPACE, "k").await.unwrap().unwrap();
    assert_eq!(found.annotations[DOMAIN_ANNOTATION], domain);
}
