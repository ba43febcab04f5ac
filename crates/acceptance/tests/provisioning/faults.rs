//! Failures of outside systems while an order is carried out.

use std::sync::Arc;

use broker::operations::ProvisioningLimits;
use clients::kubernetes::Networks;
use engine::State;
use serde_json::json;
use simulators::{
    pace::Speed,
    testing::tables::{ALWAYS, Call, rule},
    trouble::Kind,
};
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

const TELLING_TO_LET_GO: Call = ("Check_Cluster_Configuration", "reconciler", "DELETE");

/// An order whose Kyma is never installed.
async fn trying_without_end() -> Trying {
    let limits =
        ProvisioningLimits { reconciler: ProvisioningLimits::default().reconciler, ..patient() };
    let (trying, _) = trying_with_known_runtime(limits).await;
    trying.outside.running.landscape.pace().set(Speed::Times(0.000_1));
    trying
}

/// How often the Reconciler has let go of a cluster.
fn let_go(outside: &Outside) -> usize {
    outside.changes().into_iter().filter(|(_, _, what)| what.contains("delete cluster")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_does_not_end_is_told_to_let_go_after_two_hours() {
    let trying = trying_without_end().await;

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout");
    let took = tried.snapshot.ended_at.unwrap().duration_since(tried.snapshot.started_at.unwrap());
    assert!((2..3).contains(&took.as_hours()), "{took:?}");
    assert_eq!(let_go(&trying.outside), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_is_away_when_the_time_is_up_is_told_to_let_go_once_it_is_back() {
    let trying = trying_without_end().await;
    let away = Kind::Status { status: 503, body: None };
    trying.outside.meet(rule(TELLING_TO_LET_GO, 3, &away));

    let tried = trying.once().await;

    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout", "{:#?}", tried.journal);
    assert_eq!(let_go(&trying.outside), 1);
    let unmet = trying.outside.running.landscape.troubles().active();
    assert!(unmet.is_empty(), "{unmet:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_has_let_go_without_an_answer_ends_the_order_as_one_that_answered() {
    let trying = trying_without_end().await;
    trying.outside.meet(rule(TELLING_TO_LET_GO, 1, &Kind::LostAnswer { status: None }));

    let tried = trying.once().await;

    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout", "{:#?}", tried.journal);
    assert!(let_go(&trying.outside) > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconciler_that_stays_away_keeps_an_order_for_ten_minutes_more() {
    let trying = trying_without_end().await;
    let away = Kind::Status { status: 503, body: None };
    trying.outside.meet(rule(TELLING_TO_LET_GO, ALWAYS, &away));

    let tried = trying.once().await;

    assert_eq!(tried.snapshot.failure.unwrap().reason, "timeout", "{:#?}", tried.journal);
    let took = tried.snapshot.ended_at.unwrap().duration_since(tried.snapshot.started_at.unwrap());
    assert!((130..150).contains(&took.as_mins()), "{took:?}");
    assert_eq!(let_go(&trying.outside), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_an_account_to_pay_for_it_fails_after_ten_minutes_and_says_so() {
    let trying = Trying::on(Outside::start(&["aws"], 0).await, false);

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.reason, "NoFreeAccount", "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_brokers_that_want_the_last_account_one_gets_it() {
    let outside = Arc::new(Outside::start(&["aws"], 1).await);
    let broker = |name: &'static str| {
        let mut trying = Trying::on(outside.clone(), false);
        trying.wish = Box::new(move |mark| OrderSpec::aws(&format!("{name}-{mark}")));
        trying
    };
    let (one, other) = (broker("one"), broker("other"));

    let (one, other) = tokio::join!(one.once(), other.once());

    let (won, lost) = if one.end.state == State::Succeeded { (one, other) } else { (other, one) };
    assert_eq!((won.end.state, lost.end.state), (State::Succeeded, State::Failed));
    assert_eq!(lost.snapshot.failure.unwrap().reason, "NoFreeAccount");
    let accounts = [&won.end.world["accounts"], &lost.end.world["accounts"]];
    assert_eq!(accounts, [1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_the_provisioner_refuses_fails_the_order_with_its_words() {
    let mut trying = Trying::on(Outside::start(&["aws"], 1).await, false);
    // No Shoot can have so long a name.
    trying.wish = Box::new(|mark| OrderSpec::aws(&format!("{mark}-{}", "x".repeat(40))));

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.component, "provisioner", "{failure}");
    assert!(failure.message.contains("name"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_cluster_that_is_brought_along_answers_is_not_told() {
    let (trying, _) = trying_with_known_runtime(patient()).await;
    let status = json!({"kind": "Status", "reason": "Invalid", "message": "WRITE-REACHED-INNER"});
    let refusal = Kind::Status { status: 422, body: Some(status.to_string()) };
    trying.outside.trouble("runtimes", 1_000, refusal);

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.reason, "own_cluster_unusable", "{failure}");
    assert!(!format!("{failure} {:?}", tried.journal).contains("INNER"), "{:#?}", tried.journal);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_brought_along_is_reached_where_customers_clusters_may_be_only() {
    let outside = Outside::start(&["aws"], 1).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();
    let mut env = outside.env(&outside.clock).await;
    let clusters = crate::service::clusters(&outside.clock, outside.calls);
    env.customer_clusters = Arc::new(clusters.of_customers(Networks::default()));
    let broker = Broker::with(&outside, env, ProvisioningLimits::default()).await;

    let ended = broker.provision(&outside, &own_cluster("inner", "theirs", &kubeconfig)).await;

    assert_eq!(ended.snapshot.state, State::Failed);
    assert_eq!(ended.snapshot.failure.unwrap().reason, "own_cluster_unusable");
    let called = outside.calls().into_iter().filter(|call| call.system == "runtimes");
    assert_eq!(called.filter(|call| call.operation.is_some()).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_of_another_global_account_is_not_used_even_if_it_was_accepted() {
    let mut trying = Trying::on(Outside::start(&["aws"], 1).await, false);
    let wish = |mark: &str| OrderSpec {
        parameters: json!({"name": "Demo", "region": "eu-central-1", "targetSecret": "aws-internal-1"}),
        ..OrderSpec::aws(mark)
    };
    trying.wish = Box::new(wish);

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    assert_eq!(tried.snapshot.failure.unwrap().reason, "foreign_account");
}
