//! Kymas are made once and their labels rewritten, after every fault.

use clients::{Kind, lifecycle_manager::ApplyResult};
use serde_json::json;
use simulators::lifecycle_manager::KYMAS;

use super::{
    super::{
        faults::{Expected, Fault, for_each_fault},
        world::{NAMESPACE, World, changed, marks, row},
    },
    PATH, ours, template,
};

#[tokio::test]
async fn a_kyma_is_made_once_after_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;
    let template = template();

    for method in ["POST", "GET"] {
        for_each_fault(
            world.side(),
            row("control-plane", method, PATH),
            |fault| match fault {
                // It is not there, it seems, and so it is made.
                Fault::Status(404) if method == "GET" => Some(Expected::Works),
                // The answer was that it is not there, and that is all that can be read.
                Fault::HalfJson | Fault::Empty | Fault::Mistyped if method == "GET" => {
                    Some(Expected::Fails(Kind::NotFound))
                }
                other => changed(other),
            },
            async |number| {
                let name = format!("{}-{number}", method.to_lowercase());
                modules.apply(&template, &name, &ours("i")).await
            },
            |number, applied| {
                assert_ne!(applied, ApplyResult::Marked);
                let name = format!("{}-{number}", method.to_lowercase());
                let found = world.object("kcp", KYMAS, NAMESPACE, &name).unwrap();
                assert_eq!(found["metadata"]["labels"]["kyma-project.io/instance-id"], "i");
                assert_eq!(found["spec"]["channel"], "regular");
            },
        )
        .await;
    }
    assert_eq!(world.all("kcp", KYMAS).len(), 2 * Fault::ALL.len());
}

#[tokio::test]
async fn labels_are_rewritten_and_the_spec_is_left_alone_after_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;
    modules.apply(&template(), "k", &ours("i")).await.unwrap();
    world.put(
        "kcp",
        &json!({
            "apiVersion": "operator.kyma-project.io/v1beta2", "kind": "Kyma",
            "metadata": {"name": "k", "namespace": NAMESPACE},
            "spec": {"channel": "fast", "modules": [{"name": "theirs"}]},
        }),
    );

    for_each_fault(
        world.side(),
        row("control-plane", "PUT", PATH),
        changed,
        async |number| {
            let plan = number.to_string();
            let wanted = marks(&[("kyma-project.io/broker-plan-name", &plan)]);
            modules.set_marks(NAMESPACE, "k", &wanted).await
        },
        |number, _| {
            let found = world.object("kcp", KYMAS, NAMESPACE, "k").unwrap();
            let labels = &found["metadata"]["labels"];
            assert_eq!(labels["kyma-project.io/broker-plan-name"], number.to_string());
            assert_eq!(labels["kyma-project.io/instance-id"], "i");
            assert_eq!(found["spec"]["channel"], "fast");
        },
    )
    .await;
    let again = modules.apply(&template(), "k", &ours("i")).await.unwrap();
    assert_eq!(again, ApplyResult::Unchanged);
}
