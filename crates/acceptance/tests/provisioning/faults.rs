//! Failures of outside systems that pass, or that an order goes without.

mod accounts;
mod clusters;
mod reconciler;

use broker::operations::ProvisioningLimits;
use engine::State;
use serde_json::json;
use simulators::trouble::Kind;
use uuid::Uuid;

use crate::{
    orders::{OrderSpec, own_cluster},
    outside::{Outside, patient},
    test_broker::Broker,
    trying::Trying,
};

async fn world() -> (Outside, Broker) {
    let outside = Outside::start(&["aws"], 2).await;
    let broker = Broker::start(&outside).await;
    (outside, broker)
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_that_passes_costs_time_and_nothing_else() {
    let trying = Trying::on(Outside::start(&["aws"], 1).await, false);
    for system in ["avs", "edp", "reconciler", "control-plane", "gardener", "runtimes", "director"]
    {
        trying.outside.trouble(system, 2, Kind::Status { status: 500, body: None });
    }

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.incomplete, Vec::<String>::new());
    assert_eq!(tried.end.data["edp_created"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_that_is_refused_fails_the_order_under_its_systems_name() {
    let (outside, broker) = world().await;
    outside.trouble("avs", 100, Kind::Status { status: 400, body: None });

    let ended = broker.provision(&outside, &OrderSpec::aws("f2")).await;

    assert_eq!(ended.snapshot.state, State::Failed);
    let failure = ended.snapshot.failure.unwrap();
    assert_eq!(failure.component, "avs", "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_goes_without_event_data_that_is_refused_unless_it_is_required() {
    let outside = Outside::start(&["aws"], 2).await;
    outside.trouble("edp", 1_000, Kind::Status { status: 400, body: None });
    let optional = Broker::start(&outside).await;
    let env = outside.env(&outside.clock).await;
    let limits = ProvisioningLimits { edp_required: true, ..ProvisioningLimits::default() };
    let required = Broker::with(&outside, env, limits).await;

    let without = optional.provision(&outside, &OrderSpec::aws("f3")).await.succeeded();
    let failed = required.provision(&outside, &OrderSpec::aws("f4")).await;

    assert!(!without.details.edp_created);
    let told: Vec<_> = without.journal.iter().filter_map(|entry| entry.reason.as_deref()).collect();
    assert!(told.iter().any(|it| it.starts_with("EDP registration failed")), "{told:#?}");
    assert_eq!(failed.snapshot.state, State::Failed);
    assert_eq!(failed.snapshot.failure.unwrap().component, "edp");
}

/// An order whose runtime has an id that is known before.
async fn trying_with_known_runtime(limits: ProvisioningLimits) -> (Trying, String) {
    let outside = Outside::start(&["aws"], 1).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();
    let mut trying = Trying::on(outside, false);
    trying.wish = Box::new(move |mark| own_cluster(mark, "theirs", &kubeconfig));
    let runtime = Uuid::new_v4();
    trying.data.runtime_id = Some(runtime);
    trying.limits = limits;
    (trying, runtime.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kyma_that_cannot_be_installed_fails_the_order_with_the_components_names() {
    let (trying, runtime) = trying_with_known_runtime(patient()).await;
    let failures =
        json!([{"component": "istio", "reason": "no"}, {"component": "ory", "reason": "no"}]);
    let script = json!({"id": runtime, "failures": failures});
    trying.outside.running.landscape.order("reconciler", "fail", &script).unwrap();

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!((&*failure.component, &*failure.reason), ("reconciler", "istio, ory"), "{failure}");
}
