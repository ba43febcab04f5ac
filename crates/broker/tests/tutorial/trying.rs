//! Both steps on an engine over SQLite, disturbed in every way that the generated tests know.

use std::sync::{Arc, Mutex};

use base::Clock;
use broker::{
    Context,
    catalog::{Catalog, Orderer},
    operations::{
        Limits,
        deprovisioning::{Input as Removal, Limits as RemovalLimits},
        provisioning::Input,
    },
};
use domain::parameters::Provisioning as Parameters;
use engine::{
    Plan, State,
    testing::{Scenario, Setting, Stores, prove, try_out},
};
use serde_json::{Value, json};
use store::{BrokerStore, EngineStore};

use crate::{
    Details, Gate, Http, Order,
    greetings::{COMPONENT, Greetings},
    operations::{
        deprovisioning::{self, Data, Deprovisioning, Reach, Systems},
        env::Env,
        provisioning::{self, Provisioning, Switches},
    },
    rows::{Made, row},
    service::Service,
};

const INSTANCE: &str = "i-1";

fn order() -> Order {
    let catalog = Catalog::embedded().unwrap();
    let plan = catalog.plan_named("aws").unwrap();
    let place = catalog.place(Some("cf-eu10"));
    let region = Some("eu-central-1".into());
    let parameters = Parameters { name: "runtime".into(), region, ..Parameters::default() };
    let orderer = Orderer { user_id: "jo@example.test", license_type: None };
    let resolved = catalog.resolve(plan, &place, &parameters, &orderer, [7; 16]).unwrap();
    Order {
        instance_id: INSTANCE.into(),
        service_id: catalog.service_id().into(),
        plan_id: plan.id().into(),
        plan_name: plan.name().into(),
        plan_kind: plan.kind(),
        platform_region: "cf-eu10".into(),
        platform_provider: place.provider,
        context: Context {
            subaccount_id: "sa-1".into(),
            globalaccount_id: "ga-1".into(),
            ..Context::default()
        },
        parameters,
        resolved,
        shoot_name: "c-1".into(),
        shoot_domain: "c-1.kyma.example.test".into(),
        dashboard_url: String::new(),
    }
}

/// The database of a trial, handed from the scenario that fills it to the engine that opens it.
#[derive(Default, Clone)]
struct Databases {
    next: Arc<Mutex<Option<Arc<Made>>>>,
    made: Option<Arc<Made>>,
}

impl Databases {
    /// A database with the instance's row in it.
    async fn fill(&self, clock: &Clock, details: &Details) -> BrokerStore {
        let made = Made::new(false, clock, true).await;
        let (rows, _) = made.open().await;
        let mut row = row(&order(), None);
        row.details = Some(serde_json::to_vec(details).unwrap());
        rows.insert(&row).await.unwrap();
        *self.next.lock().unwrap() = Some(made);
        rows
    }
}

impl Stores for Databases {
    type Store = EngineStore;

    async fn create(&self, _: &Clock) -> Self {
        let made = self.next.lock().unwrap().clone();
        Self { next: self.next.clone(), made }
    }

    async fn open(&self) -> Arc<EngineStore> {
        Arc::new(self.made.as_ref().unwrap().open().await.1)
    }
}

/// What steps reach in a world of their own.
async fn env(clock: &Clock, down: bool) -> (Arc<Service>, Env) {
    let service = Arc::new(Service::start().await);
    if down {
        service.go_down();
    }
    let gate = || Gate::new(COMPONENT, clients::Limits::DEFAULT, clock.clone());
    let url = || service.url.parse().unwrap();
    let greetings = Some(Greetings::new(gate(), url()).unwrap());
    let reconciler = Http::through(gate(), url()).unwrap();
    (service.clone(), Env { greetings, reconciler })
}

/// Provisioning with this plan.
struct Greeting {
    plan: fn(&Limits, Switches) -> Plan<Provisioning>,
    down: bool,
    databases: Databases,
}

impl Greeting {
    fn with(plan: fn(&Limits, Switches) -> Plan<Provisioning>) -> Self {
        Self { plan, down: false, databases: Databases::default() }
    }
}

impl Scenario for Greeting {
    type Operation = Provisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Provisioning> {
        let (service, env) = env(clock, self.down).await;
        let rows = self.databases.fill(clock, &Details::default()).await;
        Setting {
            plan: (self.plan)(&Limits::default(), Switches { greetings: true }),
            env: Arc::new(env),
            instance: INSTANCE.into(),
            input: Input { order: order() },
            data: Details::default(),
            world: Box::new(move || {
                let (service, rows) = (service.clone(), rows.clone());
                Box::pin(async move {
                    let row = rows.find(INSTANCE).await.unwrap().unwrap();
                    let kept: Value = serde_json::from_slice(&row.details).unwrap();
                    json!({ "outside": service.state(), "row": kept["hello_world"] })
                })
            }),
        }
    }
}

/// Deprovisioning of an instance that was greeted.
struct Parting {
    down: bool,
    databases: Databases,
}

impl Scenario for Parting {
    type Operation = Deprovisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Deprovisioning> {
        let (service, env) = env(clock, self.down).await;
        service.has_greeted(INSTANCE);
        service.has_greeted("i-2");
        let greeted = Details { hello_world: Some("hello, i-1".into()), ..Details::default() };
        let store = self.databases.fill(clock, &greeted).await;
        Setting {
            plan: deprovisioning::plan(&RemovalLimits::default(), Systems { greetings: true }),
            env: Arc::new(Reach { env: Arc::new(env), store }),
            instance: INSTANCE.into(),
            input: Removal { order: order(), user_agent: None, temporary: false },
            data: Data::default(),
            world: Box::new(move || Box::pin(std::future::ready(service.state()))),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_greeting_is_stored_and_its_token_reaches_kyma_as_a_secret() {
    let greeting = Greeting::with(provisioning::plan);

    let tried = try_out(&greeting, &greeting.databases, None).await;

    assert_eq!(tried.end.state, State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.data["hello_world"], "hello, i-1");
    assert_eq!(tried.end.world["row"], "hello, i-1");
    let components = &tried.end.world["outside"]["configuration"]["components"];
    let settings = components[0]["configuration"].as_array().unwrap();
    let token = json!({"key": "greeting.token", "value": "token of i-1", "secret": true});
    assert!(settings.contains(&token), "{settings:?}");
    assert!(!tried.end.data.to_string().contains("token of"), "a secret is stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn hello_world_ends_the_same_way_whatever_happens() {
    let greeting = Greeting::with(provisioning::plan);

    let proof = prove(&greeting, &greeting.databases).await;

    assert!(proof.crashes > 10 && proof.lost_answers > 2, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "it ends differently")]
async fn a_step_that_does_not_look_first_is_caught() {
    let greeting = Greeting::with(provisioning::hasty_plan);

    prove(&greeting, &greeting.databases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_greetings_provisioning_fails_after_ten_minutes() {
    let greeting = Greeting { down: true, ..Greeting::with(provisioning::plan) };

    let tried = try_out(&greeting, &greeting.databases, None).await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.component, "greetings");
    let took = tried.snapshot.ended_at.unwrap().duration_since(tried.snapshot.created_at);
    assert!((10..12).contains(&took.as_mins()), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn goodbye_world_takes_back_its_own_greeting_whatever_happens() {
    let parting = Parting { down: false, databases: Databases::default() };

    let tried = try_out(&parting, &parting.databases, None).await;
    let proof = prove(&parting, &parting.databases).await;

    assert_eq!(tried.end.world["greetings"].as_array().unwrap().len(), 1);
    assert_eq!(tried.end.world["greetings"][0]["instance"], "i-2");
    assert_eq!(tried.end.data["left"], json!([]));
    assert_eq!(tried.end.data["details"]["hello_world"], Value::Null);
    assert!(proof.crashes > 5 && proof.lost_answers > 0, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_greetings_deprovisioning_goes_on_and_says_what_is_left() {
    let parting = Parting { down: true, databases: Databases::default() };

    let tried = try_out(&parting, &parting.databases, None).await;

    assert_eq!(tried.end.state, State::Succeeded);
    assert_eq!(tried.end.incomplete, ["Goodbye_World/Goodbye_World"]);
    assert_eq!(tried.end.data["left"], json!(["Goodbye_World"]));
}
