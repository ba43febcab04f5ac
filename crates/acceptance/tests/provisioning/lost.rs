//! The order for a runtime: however its answer is lost, there is one runtime, and a removal finds it.

use std::time::Duration;

use engine::State;
use serde_json::json;
use simulators::{
    ledger::{About, Filter, Phase},
    trouble::{Cut, Kind, Rule},
};
use uuid::Uuid;

use crate::{
    orders::OrderSpec, outside::Outside, service::SYSTEM, test_broker::Broker, trying::Trying,
    view::View,
};

const NOTHING: [&str; 0] = [];
const ORDERS: &str = "Create_Runtime_Without_Kyma";
const REMOVES: &str = "Remove_Runtime";

/// The order has come through, and nobody heard of it.
fn unheard() -> Vec<Kind> {
    vec![
        Kind::LostAnswer { status: None },
        Kind::LostAnswer { status: Some(500) },
        Kind::LostAnswer { status: Some(504) },
        Kind::Malformed { body: None },
        Kind::Truncated,
        Kind::Reset { when: Cut::AfterHeaders },
        Kind::Reset { when: Cut::InBody },
    ]
}

fn orders(calls: u64, trouble: Kind) -> Rule {
    Rule::next(calls, trouble).of(SYSTEM).from_step(ORDERS)
}

impl Outside {
    /// How often this step has called the provisioner, or another system.
    fn heard(&self, system: &str, step: &str) -> usize {
        let calls = self.calls();
        let fits = calls.iter().filter(|call| call.system == system);
        fits.filter(|call| call.step.as_deref() == Some(step)).count()
    }

    /// Until a step of an operation has called a system.
    pub(crate) async fn until_called(&self, system: &str, step: &str, operation: Uuid) {
        let operation = Some(operation.to_string());
        let is_it = |call: &About| {
            call.system == system
                && call.step.as_deref() == Some(step)
                && call.operation == operation
        };
        self.until(|| self.calls().iter().any(is_it)).await;
    }

    /// How many answers of a system were lost.
    fn lost(&self, system: &str) -> usize {
        let (system, phase) = (Some(system.to_owned()), Some(Phase::Lost));
        let filter = Filter { system, phase, ..Filter::default() };
        self.running.landscape.ledger().all(&filter).unwrap().len()
    }

    pub(crate) async fn until(&self, so: impl Fn() -> bool) {
        for _ in 0..6_000 {
            if so() {
                return;
            }
            self.clock.sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not come about");
    }

    /// How many runtimes there are at the Director, and Shoots in the garden.
    fn made(&self) -> (usize, usize) {
        let entries = self.objects("director");
        let runtimes = entries.iter().filter(|entry| entry.kind == "runtime").count();
        let server = self.running.clusters().server();
        (runtimes, server.list("garden", "shoots.core.gardener.cloud").len())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn however_the_answer_to_an_order_is_lost_there_is_one_runtime() {
    let mut ways = unheard();
    ways.extend([
        Kind::Duplicate,
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Reset { when: Cut::AfterBody },
        Kind::Busy { retry_after_seconds: 1, as_date: false },
    ]);
    let trying = Trying::on(Outside::start(&["aws"], ways.len()).await, false);

    for (at, way) in ways.into_iter().enumerate() {
        trying.outside.meet(orders(3, way.clone()));
        let tried = trying.once().await;
        trying.outside.calm();

        assert_eq!(tried.end.state, State::Succeeded, "{way:?}: {:#?}", tried.journal);
        assert_eq!(trying.outside.made(), (at + 1, at + 1), "{way:?}");
        assert_eq!(tried.end.data["runtime_ordered_at"], json!(null), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_finds_a_runtime_whose_id_was_never_heard_and_that_has_no_cluster_yet() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    for way in unheard() {
        outside.meet(orders(1_000, way.clone()));
        // The provisioner does not get to make the cluster either.
        let no_shoot = Rule::next(1_000, Kind::Status { status: 500, body: None });
        outside.meet(no_shoot.of("gardener").on("POST", "/clusters/garden/*/shoots$"));
        let (before, looks) = (outside.heard(SYSTEM, ORDERS), outside.heard("director", REMOVES));

        let (order, create) = broker.order(&outside, &OrderSpec::aws(&format!("l{looks}"))).await;
        outside.until(|| outside.heard(SYSTEM, ORDERS) > before).await;
        let removal = broker.remove(&order).await;
        outside.until(|| outside.heard("director", REMOVES) > looks).await;
        outside.calm();
        let ended = broker.end_of(removal).await;

        assert_eq!(broker.end_of(create).await.state, State::Failed);
        assert_eq!(ended.state, State::Succeeded, "{way:?}");
        assert_eq!(ended.incomplete, NOTHING, "{way:?}");
        assert_eq!(View::of(&outside, &broker.store, &order).left().await, NOTHING, "{way:?}");
        outside.clean_accounts().await;
    }
    assert_eq!(outside.made(), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_finds_the_runtime_of_a_broker_that_died_before_it_heard_of_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    outside.meet(orders(1_000, Kind::LostAnswer { status: None }));
    let no_shoot = Rule::next(3, Kind::Status { status: 500, body: None });
    outside.meet(no_shoot.of("gardener").on("POST", "/clusters/garden/*/shoots$"));

    let (order, _) = broker.order(&outside, &OrderSpec::aws("dead")).await;
    outside.until(|| outside.lost(SYSTEM) > 0).await;
    let broker = broker.killed_and_started(&outside).await;
    let ended = broker.deprovision(&order).await.completed();

    assert!(ended.details.runtime_id.is_some(), "it was found");
    assert_eq!(View::of(&outside, &broker.store, &order).left().await, NOTHING);
    assert_eq!(outside.made(), (0, 0));
}
