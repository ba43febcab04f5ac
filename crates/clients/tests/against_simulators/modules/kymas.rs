//! Kymas: from their template to their end.

mod changes;
mod foreign;

use clients::lifecycle_manager::{ApplyResult, DOMAIN_ANNOTATION, Marks, Template, TemplateSource};
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
