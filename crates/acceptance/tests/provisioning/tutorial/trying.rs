//! Both steps in the broker's plans on an engine over SQLite, disturbed in every way that the generated tests know.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use base::Clock;
use broker::{
    Details,
    operations::{
        Env, Limits,
        deprovisioning::{self, Data, Deprovisioning, Input, Reach},
        provisioning::Provisioning,
    },
};
use engine::{
    Plan, State,
    testing::{Scenario, Setting, prove_step, try_out},
};
use serde_json::{Value, json};
use store::{
    BrokerStore,
    testing::{Sort, Trials},
};

use super::{greetings::Greetings, hasty, hello_world::KEPT_AS, plans, service::Service};
use crate::{
    orders::{Wish, row},
    outside::{Outside, patient},
    trying::Trying,
};

/// Provisioning with this plan.
struct Greeting {
    plan: fn(&Limits, &Env, Greetings) -> Plan<Provisioning>,
    down: bool,
    /// Orders in a landscape, as the broker's own plan is tried with them.
    orders: Trying,
}

impl Greeting {
    async fn with(plan: fn(&Limits, &Env, Greetings) -> Plan<Provisioning>) -> Self {
        let orders = Trying::on(Outside::start(&["aws"], 50).await, false);
        Self { plan, down: false, orders }
    }
}

impl Scenario for Greeting {
    type Operation = Provisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Provisioning> {
        let service = Arc::new(Service::start(self.down).await);
        let Setting { env, instance, input, data, world, .. } = self.orders.fresh(clock).await;
        Setting {
            plan: (self.plan)(&patient(), &env, service.client(clock)),
            env,
            instance,
            input,
            data,
            world: Box::new(move || {
                let (service, around) = (service.clone(), world());
                Box::pin(async move { json!([service.greeted().len(), around.await]) })
            }),
        }
    }

    fn comparable(&self, mut data: Value) -> Value {
        // Every trial has an instance of its own, and is greeted by its name.
        data[KEPT_AS] = json!(data[KEPT_AS].is_string());
        self.orders.comparable(data)
    }
}

/// The end of an instance that was greeted and whose cluster was never made.
struct Parting {
    down: bool,
    outside: Outside,
    databases: Trials<BrokerStore>,
    count: AtomicUsize,
}

impl Parting {
    async fn new(down: bool) -> Self {
        let outside = Outside::start(&["aws"], 1).await;
        let databases = Trials::on(Sort::Sqlite);
        Self { down, outside, databases, count: AtomicUsize::new(0) }
    }
}

impl Scenario for Parting {
    type Operation = Deprovisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Deprovisioning> {
        let mark = format!("p{}", self.count.fetch_add(1, SeqCst));
        let order = Wish::aws(&mark).order(&self.outside.catalog);
        self.outside.introduce(&order.context.globalaccount_id);
        let service = Arc::new(Service::start(self.down).await);
        for instance in [&order.instance_id, "another"] {
            service.has_greeted(instance);
        }
        let mut details = Details::default();
        details.others.insert(KEPT_AS.into(), json!("hello"));
        let (store, operations) = self.databases.fill(clock).await.open().await;
        let mut row = row(&order);
        row.details = Some(serde_json::to_vec(&details).unwrap());
        store.insert(&row).await.unwrap();
        let env = Arc::new(Box::pin(self.outside.env(clock)).await);
        let limits = deprovisioning::Limits::default();
        Setting {
            plan: plans::removing(&limits, &env, service.client(clock)),
            env: Arc::new(Reach { env, store, operations }),
            instance: order.instance_id.clone(),
            input: Input { order, user_agent: None, temporary: false },
            data: Data::default(),
            world: Box::new(move || Box::pin(std::future::ready(json!(service.greeted())))),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hello_world_ends_the_same_way_whatever_happens() {
    let greeting = Greeting::with(plans::making).await;

    let proof = prove_step(&greeting, &greeting.orders.databases, "Hello_World").await;

    assert!(proof.crashes > 5 && proof.lost_answers > 1, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "it ends differently")]
async fn a_step_that_does_not_look_first_is_caught() {
    let greeting = Greeting::with(hasty::making).await;

    prove_step(&greeting, &greeting.orders.databases, "Hello_World").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_greetings_provisioning_fails_after_ten_minutes() {
    let greeting = Greeting { down: true, ..Greeting::with(plans::making).await };

    let tried = try_out(&greeting, &greeting.orders.databases, None).await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.component, "greetings");
    let took = tried.snapshot.ended_at.unwrap().duration_since(tried.snapshot.created_at);
    assert!((10..12).contains(&took.as_mins()), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn goodbye_world_takes_back_its_own_greeting_whatever_happens() {
    let parting = Parting::new(false).await;

    let tried = try_out(&parting, &parting.databases, None).await;
    let proof = prove_step(&parting, &parting.databases, "Goodbye_World").await;

    assert_eq!(tried.end.world, json!(["another"]), "{:#?}", tried.journal);
    assert_eq!(tried.end.data["left"], json!([]));
    assert_eq!(tried.end.data["details"][KEPT_AS], Value::Null);
    assert!(proof.crashes > 5 && proof.lost_answers > 0, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_greetings_deprovisioning_goes_on_and_says_what_is_left() {
    let parting = Parting::new(true).await;

    let tried = try_out(&parting, &parting.databases, None).await;

    assert_eq!(tried.end.state, State::Succeeded);
    assert_eq!(tried.end.data["left"], json!(["Goodbye_World"]));
    assert_eq!(
        tried.end.incomplete,
        ["Goodbye_World/Goodbye_World", "Remove_Instance/Remove_Instance"]
    );
}
