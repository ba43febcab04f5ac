//! What `AvS` and LMS may have made without telling: they cannot be asked, so every call is written down before it leaves.

use engine::State;
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};

use crate::{
    legacy, orders::OrderSpec, outside::Outside, service::SYSTEM, test_broker::Broker,
    trying::Trying,
};

const INTERNAL: &str = "AVS_Create_Internal_Eval_Step";

fn evaluations(outside: &Outside) -> usize {
    outside.objects("avs").iter().filter(|object| object.kind == "evaluation").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn p27_an_evaluation_whose_answer_was_lost_is_listed_until_somebody_settles_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    outside.meet(Rule::next(1, Kind::LostAnswer { status: None }).of("avs").from_step(INTERNAL));

    let made = broker.provision(&outside, &OrderSpec::aws("p27")).await.succeeded();

    let listed = broker.store.creations(None, 10).await.unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((listed[0].system.as_str(), listed[0].answer.as_deref()), ("avs", None));
    assert!(listed[0].name.starts_with("K8S-AWS-Kyma-int-instance-p27"), "{}", listed[0].name);
    assert_eq!(listed[0].operation, made.snapshot.id);
    broker.deprovision(&made.order).await.completed();
    assert_eq!(evaluations(&outside), 1, "the one that nobody knows");
    assert_eq!(broker.store.creations(None, 10).await.unwrap(), listed);
    assert!(broker.store.forget_creation(listed[0].id).await.unwrap());
    assert_eq!(broker.store.creations(None, 10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn p27_nothing_is_listed_when_every_answer_came() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    outside.trouble("avs", 1, Kind::Status { status: 429, body: None });

    broker.provision(&outside, &OrderSpec::aws("p27b")).await.succeeded();

    assert_eq!(broker.store.creations(None, 10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn p27_a_logging_tenant_whose_answer_was_lost_is_listed() {
    let outside = Outside::start(&["aws", "azure"], 2).await;
    let env = Box::pin(outside.older(&outside.clock)).await;
    let plans = legacy::plans(&env);
    let broker = Box::pin(Broker::serving(&outside, env, plans)).await;
    let lost = Rule::next(1, Kind::LostAnswer { status: None }).of("lms");
    outside.meet(lost.from_step("Create_LMS_Tenant"));

    broker.provision(&outside, &OrderSpec::aws("p27c")).await.succeeded();

    let listed = broker.store.creations(None, 10).await.unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].system, "lms");
    assert!(listed[0].name.contains(" in "), "{}", listed[0].name);
}

/// The provisioner's status of a runtime with an unusable kubeconfig.
fn nonsense() -> Value {
    json!({"data": {"result": {
        "lastOperationStatus": null,
        "runtimeConfiguration": {"kubeconfig": "no kubeconfig at all"},
    }}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_that_cannot_be_used_is_asked_for_again_by_the_next_run() {
    let trying = Trying::on(Outside::start(&["aws"], 1).await, false);
    let bad = Kind::Malformed { body: Some(nonsense().to_string()) };
    trying.outside.meet(Rule::next(1, bad).of(SYSTEM).from_step("Get_Kubeconfig"));

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    let step = |step: &Option<String>| step.as_deref() == Some("Get_Kubeconfig");
    let runs: Vec<_> = tried.journal.iter().filter(|entry| step(&entry.step)).collect();
    let calls = trying.outside.calls();
    let asked = calls.iter().filter(|call| call.system == SYSTEM && step(&call.step));
    assert_eq!(asked.count(), 2, "{runs:#?}");
    let took = runs.last().unwrap().ended_at.duration_since(runs[0].began_at);
    assert!(took.as_mins() < 5, "{took:?}");
}
