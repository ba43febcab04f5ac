//! Bindings of a runtime that the provisioner has made: credentials that work, expire and end, whatever happens meanwhile.

/// Each test on both databases.
macro_rules! on_both_databases {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                let database = store::testing::TestDatabase::sqlite();
                super::$test(Box::pin(super::BoundRuntime::start_on(database)).await).await;
            }
        )+}

        mod postgres {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                let database = store::testing::TestDatabase::postgres().await;
                super::$test(Box::pin(super::BoundRuntime::start_on(database)).await).await;
            }
        )+}
    };
}

mod conformance;
mod crashes;
mod faults;
mod hanging_up;
mod kubeconfig;
mod life;
mod moved;
mod operator_secret;
mod operators;
mod refusals;
mod secrets;

use std::time::Duration;

use base::Clock;
use broker::{
    Order,
    bindings::{Bind, BindingCredentials, Bindings, RuntimeReach, Unbind},
    catalog::{BindingOffer, Offer},
    instances::{self, Caller, Error, Parts, Settings, SuspensionPlans},
};
use clients::kubernetes::{Cluster, Resource};
use secrecy::SecretString;
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};
use store::{
    BrokerStore, EngineStore,
    broker::{Binding, Instance},
    testing::TestDatabase,
};

use crate::{
    orders::OrderSpec,
    outside::Outside,
    service::{CALLS, clusters},
    test_broker::Broker,
};

/// A runtime, and bindings of it on a clock of their own.
struct BoundRuntime {
    outside: Outside,
    broker: Broker,
    order: Order,
    clock: Clock,
    bindings: Bindings,
}

/// A caller with access to all tenants.
fn anybody() -> Caller {
    Caller::default()
}

impl BoundRuntime {
    async fn start() -> Self {
        Self::of(OrderSpec::aws("bound")).await
    }

    /// Its broker works on this database.
    async fn start_on(database: TestDatabase) -> Self {
        Self::of_on(OrderSpec::aws("bound"), database).await
    }

    async fn of(wish: OrderSpec<'_>) -> Self {
        Self::of_on(wish, TestDatabase::sqlite()).await
    }

    async fn of_on(wish: OrderSpec<'_>, database: TestDatabase) -> Self {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Box::pin(Broker::start_on(&outside, database)).await;
        let order = Box::pin(broker.provision(&outside, &wish)).await.succeeded().order;
        let clock = Clock::held_at(outside.clock.now());
        let bindings = Box::pin(bindings(&outside, &broker, &clock)).await;
        Self { outside, broker, order, clock, bindings }
    }

    fn request(&self, binding: &str) -> Bind {
        Bind {
            instance_id: self.order.instance_id.clone(),
            binding_id: binding.into(),
            service_id: self.order.service_id.clone(),
            plan_id: self.order.plan_id.clone(),
            ..Bind::default()
        }
    }

    async fn bind(&self, binding: &str) -> Result<BindingCredentials, Error> {
        self.bindings.bind(&anybody(), self.request(binding)).await
    }

    async fn bind_for(&self, binding: &str, seconds: u64) -> Result<BindingCredentials, Error> {
        let parameters = Some(json!({ "expiration_seconds": seconds }));
        self.bindings.bind(&anybody(), Bind { parameters, ..self.request(binding) }).await
    }

    async fn unbind(&self, binding: &str) -> Result<(), Error> {
        let request = Unbind {
            instance_id: self.order.instance_id.clone(),
            binding_id: binding.into(),
            service_id: "s".into(),
            plan_id: "p".into(),
        };
        self.bindings.unbind(&anybody(), request).await
    }

    async fn find(&self, binding: &str) -> Result<BindingCredentials, Error> {
        self.bindings.find(&anybody(), &self.order.instance_id, binding).await
    }

    /// The objects that bindings have created in the runtime.
    fn made(&self) -> Vec<String> {
        let server = self.outside.running.clusters().server();
        let mut made = Vec::new();
        for resource in [
            "serviceaccounts",
            "clusterroles.rbac.authorization.k8s.io",
            "clusterrolebindings.rbac.authorization.k8s.io",
        ] {
            for object in server.list(&self.order.shoot_name, resource) {
                let name = object["metadata"]["name"].as_str().unwrap();
                if name.starts_with("kyma-binding-") {
                    made.push(format!("{resource} {name}"));
                }
            }
        }
        made
    }

    /// The bindings that are written down.
    async fn bindings_of(&self) -> Vec<Binding> {
        self.broker.store.bindings_of(&self.order.instance_id).await.unwrap()
    }

    /// How many bindings are written down.
    async fn stored(&self) -> usize {
        self.bindings_of().await.len()
    }

    async fn instance(&self) -> Instance {
        self.broker.store.find(&self.order.instance_id).await.unwrap().unwrap()
    }

    /// How much later others may take over.
    fn wait_for_takeover(&self) {
        self.clock.advance(Duration::from_secs(200));
    }
}

/// Bindings on a held clock, in the process of the broker.
async fn bindings(outside: &Outside, broker: &Broker, clock: &Clock) -> Bindings {
    bindings_with(use_cases(outside, broker, clock), outside).await
}

/// Bindings of another process, which may be killed: the broker shares no connection with it.
async fn bindings_of_another_process(runtime: &BoundRuntime) -> Bindings {
    let store = BrokerStore::new(
        runtime.broker.store_of_another_process().await,
        runtime.outside.clock.clone(),
    );
    let cases = use_cases_with(&runtime.outside, store.engine(), &runtime.clock);
    bindings_with(cases, &runtime.outside).await
}

async fn bindings_with(cases: instances::Broker, outside: &Outside) -> Bindings {
    let env = Box::pin(outside.env(&outside.clock)).await;
    let reach = RuntimeReach {
        provisioner: env.provisioner.clone(),
        clusters: clusters(&outside.clock, CALLS),
    };
    Bindings::new(cases, reach, TIME)
}

/// How long a bind may take.
const TIME: Duration = Duration::from_secs(15);

/// The use cases of instances on a held clock.
fn use_cases(outside: &Outside, broker: &Broker, clock: &Clock) -> instances::Broker {
    use_cases_with(outside, broker.store.engine(), clock)
}

fn use_cases_with(outside: &Outside, engine: &EngineStore, clock: &Clock) -> instances::Broker {
    let engine = engine.clone();
    let store = BrokerStore::new(engine.clone(), clock.clone());
    let offer = Offer {
        plans: vec!["aws".into(), "trial".into()],
        bindings: Some(BindingOffer::default()),
        operator_access: Some(Duration::from_hours(8)),
        ..Offer::default()
    };
    instances::Broker::new(Parts {
        store,
        operations: engine,
        shapes: vec![],
        catalog: outside.catalog.clone(),
        offer,
        accounts: None,
        settings: Settings {
            dashboard: "https://dashboard.test".into(),
            shoot_domain: "kyma.test".into(),
            kubeconfig_label: None,
            trial_notice: None,
            legacy: None,
            suspension: SuspensionPlans::default(),
        },
        clock: clock.clone(),
    })
}

/// Whether a kubeconfig opens its runtime.
async fn opens(kubeconfig: &SecretString) -> Result<(), clients::Error> {
    let clock = Clock::running();
    let gate = clients::Gate::new(clients::Component::RUNTIME, CALLS, clock);
    let cluster = Cluster::connect(gate, kubeconfig).await.unwrap();
    let namespaces = Resource::core("Namespace", "namespaces");
    cluster.objects::<Value>(namespaces, None).some(1).await.map(drop)
}

/// A call to the runtime: its method, and what is in its path.
type Call = (&'static str, &'static str);

/// The calls of a bind. The provisioner calls runtimes, too, when it is asked how they are.
const MAKING: [Call; 4] = [
    ("POST", "/serviceaccounts"),
    ("PATCH", "/clusterroles/kyma-binding-"),
    ("PATCH", "/clusterrolebindings/kyma-binding-"),
    ("POST", "/serviceaccounts/kyma-binding-"),
];
/// The calls of an unbind.
const REMOVING: [Call; 3] = [
    ("DELETE", "/clusterrolebindings/kyma-binding-"),
    ("DELETE", "/clusterroles/kyma-binding-"),
    ("DELETE", "/serviceaccounts/kyma-binding-"),
];

/// The next call of this kind meets trouble.
fn meets((method, path): Call, trouble: Kind) -> Rule {
    let end = if path.ends_with('-') { "" } else { "$" };
    Rule::next(1, trouble).of("runtimes").on(method, &format!("*{path}{end}"))
}
