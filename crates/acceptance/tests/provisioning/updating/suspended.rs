//! Changes that end behind a suspension which was accepted with newer values.
//!
//! What a reader would get wrong: the suspension waits for the change, so the older values are the last ones that the change could store.

use broker::{
    Context, Order,
    instances::{Caller, SuspensionPlans, Update},
};
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};
use store::testing::TestDatabase;

use super::trying::operator;
use crate::{
    orders::OrderSpec,
    outside::Outside,
    suspension::{settled, use_cases_suspending},
    test_broker::Broker,
};

/// An instance whose order is held, so that everything behind it waits.
struct Held<'a> {
    outside: &'a Outside,
    broker: &'a Broker,
    order: Order,
}

impl Held<'_> {
    /// Hands in a change of the context.
    async fn say(&self, context: Value) {
        let suspended = SuspensionPlans {
            suspended: vec![self.order.plan_name.clone()],
            ..SuspensionPlans::default()
        };
        let request = Update {
            instance_id: self.order.instance_id.clone(),
            service_id: self.order.service_id.clone(),
            context: Some(context),
            accepts_incomplete: true,
            ..Update::default()
        };
        let cases = use_cases_suspending(self.outside, self.broker, suspended);
        cases.update(&Caller::default(), request).await.unwrap();
    }

    async fn goes_on(&self) {
        self.outside.calm();
        settled(self.outside, self.broker, &self.order).await;
    }

    async fn context(&self) -> Context {
        let row = self.broker.store.find(&self.order.instance_id).await.unwrap().unwrap();
        serde_json::from_slice::<Order>(&row.order).unwrap().context
    }
}

async fn held<'a>(outside: &'a Outside, broker: &'a Broker, mark: &str) -> Held<'a> {
    let trouble = Kind::Status { status: 503, body: None };
    let step = "Create_Runtime_Without_Kyma";
    outside.meet(Rule::next(1_000_000, trouble).of("provisioner").from_step(step));
    let (order, _) = broker.order(outside, &OrderSpec::aws(mark)).await;
    Held { outside, broker, order }
}

/// Credentials for the BTP operator, with tokens from here.
fn credentials(host: &str) -> Value {
    json!({
        "clientid": host, "clientsecret": "hush", "sm_url": "https://sm.example.test",
        "url": format!("https://{host}.example.test"),
    })
}

fn token_host(context: &Context) -> &str {
    let url = &context.sm_operator_credentials.as_ref().unwrap().url;
    url.strip_prefix("https://").unwrap().split('.').next().unwrap()
}

async fn newer_values_stay(database: TestDatabase) {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start_on(&outside, database).await;
    let held = Box::pin(held(&outside, &broker, "newer")).await;
    let older = json!({"license_type": "A", "sm_operator_credentials": credentials("older")});
    Box::pin(held.say(older)).await;

    let beside = json!({"active": false, "sm_operator_credentials": credentials("beside")});
    Box::pin(held.say(beside)).await;
    Box::pin(held.say(json!({"license_type": "PARTNER"}))).await;
    held.goes_on().await;

    let asleep = held.context().await;
    assert_eq!(asleep.active, Some(false));
    assert_eq!(token_host(&asleep), "beside");
    assert_eq!(asleep.license_type.as_deref(), Some("PARTNER"));
    Box::pin(held.say(json!({"active": true}))).await;
    held.goes_on().await;
    let row = broker.store.find(&held.order.instance_id).await.unwrap().unwrap();
    let used = operator(&outside, &row.runtime_id.unwrap().to_string());
    assert_eq!(used, json!("https://beside.example.test"));

    let after = json!({"license_type": "B", "sm_operator_credentials": credentials("after")});
    Box::pin(held.say(after)).await;
    held.goes_on().await;
    let awake = held.context().await;
    assert_eq!((token_host(&awake), awake.license_type.as_deref()), ("after", Some("B")));
}

#[tokio::test(flavor = "multi_thread")]
async fn values_beside_or_behind_a_suspension_survive_the_end_of_an_older_change() {
    newer_values_stay(TestDatabase::sqlite()).await;
    newer_values_stay(TestDatabase::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_that_names_neither_keeps_what_the_change_before_it_names() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let held = Box::pin(held(&outside, &broker, "unnamed")).await;
    let change = json!({"license_type": "A", "sm_operator_credentials": credentials("change")});
    Box::pin(held.say(change)).await;

    Box::pin(held.say(json!({"active": false, "license_type": "PARTNER"}))).await;
    held.goes_on().await;

    let asleep = held.context().await;
    assert_eq!((token_host(&asleep), asleep.license_type.as_deref()), ("change", Some("PARTNER")));
}
