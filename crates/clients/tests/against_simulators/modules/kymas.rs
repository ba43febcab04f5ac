//! Kymas: made once, marked, adopted, deleted; every fault, and the repetition.

use clients::{
    Kind,
    lifecycle_manager::{ApplyResult, DOMAIN_ANNOTATION, Marks, Template, TemplateSource},
};
use serde_json::json;
use simulators::lifecycle_manager::KYMAS;

use super::{
    faults::{Expected, Fault, for_each_fault},
    world::{NAMESPACE, World, changed, marks, row},
};

const PATH: &str =
    "/clusters/kcp/apis/operator.kyma-project.io/v1beta2/namespaces/kcp-system/kymas";
/// Keeps the Lifecycle Manager's hands off, so that nobody but the client writes.
const SKIP: (&str, &str) = ("operator.kyma-project.io/skip-reconciliation", "true");

fn ours(instance: &str) -> Marks {
    marks(&[SKIP, ("kyma-project.io/instance-id", instance), ("kyma-project.io/runtime-id", "r")])
}

fn template() -> Template {
    let text = "apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata: {name: tbd, namespace: kcp-system}\nspec: {channel: regular, modules: [{name: istio}]}\n";
    Template::parse(text).unwrap()
}

#[tokio::test]
async fn a_kyma_lives_from_its_template_to_its_end() {
    let world = World::new().await;
    let modules = world.modules().await;
    let template = modules.template(TemplateSource::Named("kyma-templates"), "aws").await.unwrap();
    let mut wanted = marks(&[("kyma-project.io/runtime-id", "r-1")]);
    wanted.annotations.insert(DOMAIN_ANNOTATION.into(), "r-1.example.org".into());
    let kubeconfig = world.running.clusters().control_plane_kubeconfig();
    modules.write_kubeconfig("r-1", &kubeconfig.into(), &wanted).await.unwrap();

    let made = modules.apply(&template, "r-1", &wanted).await.unwrap();
    let ready = until(&world, &modules, "r-1", Some("Ready")).await;
    let deleted = modules.delete(NAMESPACE, "r-1").await.unwrap();
    let gone = until(&world, &modules, "r-1", None).await;

    assert_eq!((made, deleted, gone), (ApplyResult::Created, true, None));
    let ready = ready.unwrap();
    assert_eq!(ready.labels["kyma-project.io/runtime-id"], "r-1");
    assert_eq!(ready.annotations[DOMAIN_ANNOTATION], "r-1.example.org");
    assert!(!modules.delete(NAMESPACE, "r-1").await.unwrap());
}

/// Asks until the Kyma is in a state, or gone.
async fn until(
    world: &World,
    modules: &clients::lifecycle_manager::LifecycleManager,
    name: &str,
    state: Option<&str>,
) -> Option<clients::lifecycle_manager::Kyma> {
    for _ in 0..600 {
        let found = modules.find(NAMESPACE, name).await.unwrap();
        if found.as_ref().map(|kyma| kyma.state.as_deref()) == state.map(Some) {
            return found;
        }
        world.clock.sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it did not get there: {:?}", modules.find(NAMESPACE, name).await);
}

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

#[tokio::test]
async fn a_kyma_goes_after_every_fault() {
    let world = World::new().await;
    let modules = world.modules().await;
    for number in 0..Fault::ALL.len() {
        modules.apply(&template(), &format!("k-{number}"), &ours("i")).await.unwrap();
    }

    for_each_fault(
        world.side(),
        row("control-plane", "DELETE", PATH),
        |fault| match fault {
            Fault::Status(404) => Some(Expected::Works),
            other => changed(other),
        },
        async |number| modules.delete(NAMESPACE, &format!("k-{number}")).await,
        |number, _| {
            assert!(world.object("kcp", KYMAS, NAMESPACE, &format!("k-{number}")).is_none());
        },
    )
    .await;
}

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
