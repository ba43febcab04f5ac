//! Changes that are asked for while the instance is still being made.
//!
//! What a reader would get wrong: the order is held by calls of the provisioner that fail until the change is accepted, so that
//! each test knows what the change has met.

use broker::{
    Order,
    instances::{Caller, Update},
};
use engine::{OperationId, State, Storage};
use serde_json::json;
use simulators::trouble::{Kind, Rule};
use store::testing::TestDatabase;

use super::trying::shoot;
use crate::{
    orders::OrderSpec, outside::Outside, suspension::use_cases, test_broker::Broker, view::View,
};

/// The step that is held.
const HELD: &str = "Create_Runtime_Without_Kyma";

/// An order that is held, and a change that waits for it.
struct Queued {
    order: Order,
    ordering: OperationId,
    change: OperationId,
}

impl Queued {
    async fn begin(outside: &Outside, broker: &Broker, mark: &str) -> Self {
        let held = Kind::Status { status: 503, body: None };
        outside.meet(Rule::next(1_000_000, held).of("provisioner").from_step(HELD));
        let (order, ordering) = broker.order(outside, &OrderSpec::aws(mark)).await;
        let request = Update {
            instance_id: order.instance_id.clone(),
            service_id: order.service_id.clone(),
            plan_id: String::new(),
            context: None,
            parameters: Some(
                json!({"autoScalerMin": 4, "autoScalerMax": 9, "machineType": "m6i.2xlarge"}),
            ),
            accepts_incomplete: true,
            maintenance_version: None,
        };
        let accepted = use_cases(outside, broker).update(&Caller::default(), request).await;
        let change = accepted.unwrap().operation.unwrap().uuid();
        let queued = Self { order, ordering, change };
        assert_eq!(queued.state(broker, queued.change).await, State::Pending);
        assert!(!queued.state(broker, queued.ordering).await.is_final());
        queued
    }

    async fn state(&self, broker: &Broker, operation: OperationId) -> State {
        broker.engine.storage().read(operation).await.unwrap().unwrap().state
    }

    /// Lets the order go on, whose end this is to be.
    async fn order_ends(&self, outside: &Outside, broker: &Broker, state: State) {
        outside.running.landscape.troubles().clear(Some("provisioner")).unwrap();
        let ended = broker.end_of(self.ordering).await;
        assert_eq!(ended.state, state, "{:?}", ended.failure);
    }

    /// The change fails because there is no runtime: the provisioner is asked for nothing, and no value is stored.
    async fn change_fails(&self, outside: &Outside, broker: &Broker) {
        let ended = broker.end_of(self.change).await;

        assert_eq!(ended.state, State::Failed);
        let failure = ended.failure.unwrap();
        assert_eq!((&*failure.component, &*failure.reason), ("broker", "not_provisioned"));
        self.has_changed_nothing(outside, broker).await;
    }

    async fn has_changed_nothing(&self, outside: &Outside, broker: &Broker) {
        let id = self.change.to_string();
        let calls = outside.calls().into_iter();
        let made: Vec<_> = calls.filter(|call| call.operation.as_deref() == Some(&*id)).collect();
        assert!(made.is_empty(), "the change has called an outside system: {made:#?}");
        assert_eq!(self.stored(broker).await, self.order);
    }

    async fn stored(&self, broker: &Broker) -> Order {
        let row = broker.store.find(&self.order.instance_id).await.unwrap().unwrap();
        serde_json::from_slice(&row.order).unwrap()
    }
}

async fn on_both_databases() -> [TestDatabase; 2] {
    [TestDatabase::sqlite(), TestDatabase::postgres().await]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_an_instance_that_is_being_made_is_applied_after_the_order() {
    for database in on_both_databases().await {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Broker::start_on(&outside, database).await;
        let queued = Box::pin(Queued::begin(&outside, &broker, "early")).await;

        queued.order_ends(&outside, &broker, State::Succeeded).await;

        let ended = broker.end_of(queued.change).await;
        assert_eq!(ended.state, State::Succeeded, "{:?}", ended.failure);
        assert_eq!(shoot(&outside, &queued.order.shoot_name), json!(["m6i.2xlarge", 4, 9]));
        let parameters = queued.stored(&broker).await.parameters;
        assert_eq!(parameters.machine_type.as_deref(), Some("m6i.2xlarge"));
        assert_eq!((parameters.auto_scaler_min, parameters.auto_scaler_max), (Some(4), Some(9)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_an_instance_that_could_not_be_made_fails_and_changes_nothing() {
    for database in on_both_databases().await {
        let outside = Outside::start(&["aws"], 1).await;
        let refusal = Kind::Status { status: 422, body: None };
        outside.meet(Rule::next(1_000_000, refusal).of("gardener").from_step("Create_Shoot"));
        let broker = Broker::start_on(&outside, database).await;
        let queued = Box::pin(Queued::begin(&outside, &broker, "refused")).await;

        queued.order_ends(&outside, &broker, State::Failed).await;

        queued.change_fails(&outside, &broker).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_waits_for_an_order_that_is_canceled_fails_and_changes_nothing() {
    for database in on_both_databases().await {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Broker::start_on(&outside, database).await;
        let queued = Box::pin(Queued::begin(&outside, &broker, "stopped")).await;

        assert!(broker.engine.cancel(queued.ordering, "called off by a test").await.unwrap());
        let canceled = broker.end_of(queued.ordering).await;

        assert_eq!(canceled.state, State::Canceled);
        queued.change_fails(&outside, &broker).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_canceled_while_it_waits_for_the_order_changes_nothing() {
    for database in on_both_databases().await {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Broker::start_on(&outside, database).await;
        let queued = Box::pin(Queued::begin(&outside, &broker, "withdrawn")).await;

        assert!(broker.engine.cancel(queued.change, "called off by a test").await.unwrap());
        queued.order_ends(&outside, &broker, State::Succeeded).await;

        assert_eq!(broker.end_of(queued.change).await.state, State::Canceled);
        queued.has_changed_nothing(&outside, &broker).await;
        assert_ne!(shoot(&outside, &queued.order.shoot_name), json!(["m6i.2xlarge", 4, 9]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_stops_an_order_and_the_change_that_waits_for_it() {
    for database in on_both_databases().await {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Broker::start_on(&outside, database).await;
        let queued = Box::pin(Queued::begin(&outside, &broker, "unwanted")).await;

        let removal = broker.remove(&queued.order).await;
        outside.calm();

        assert_eq!(broker.end_of(removal).await.state, State::Succeeded);
        for stopped in [queued.ordering, queued.change] {
            let ended = broker.end_of(stopped).await;
            assert_eq!(ended.state, State::Failed, "{:?}", ended.failure);
        }
        let left = View::of(&outside, &broker.store, &queued.order).left().await;
        assert_eq!(left, Vec::<String>::new());
    }
}
