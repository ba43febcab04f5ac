//! Both steps of the tutorial in the broker's plans on an engine over SQLite, disturbed in every way that the generated tests know.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use base::Clock;
use broker::{
    Details,
    creations::Creations,
    operations::{
        Env, Systems,
        deprovisioning::{Data, Deprovisioning, DeprovisioningLimits, Input, plan},
    },
};
use clients::lifecycle_manager::Marks;
use engine::{
    State,
    testing::{Scenario, Setting, prove_step, try_out},
};
use secrecy::SecretString;
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};
use store::{
    BrokerStore,
    testing::{Sort, Trials},
};

use crate::{
    orders::{OrderSpec, row},
    outside::Outside,
    trying::Trying,
};

/// The removal of an instance whose kubeconfig the Lifecycle Manager has, and whose cluster was never made.
struct Removal {
    outside: Outside,
    /// Clients of the test's own: a system that failed is not left alone by them.
    eyes: Arc<Env>,
    databases: Trials<BrokerStore>,
    count: AtomicUsize,
}

impl Removal {
    async fn new() -> Self {
        let outside = Outside::start(&["aws"], 1).await;
        let eyes = Arc::new(Box::pin(outside.env(&outside.clock)).await);
        let databases = Trials::on(Sort::Sqlite);
        Self { outside, eyes, databases, count: AtomicUsize::new(0) }
    }
}

impl Scenario for Removal {
    type Operation = Deprovisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Deprovisioning> {
        let mark = format!("p{}", self.count.fetch_add(1, SeqCst));
        let order = OrderSpec::aws(&mark).order(&self.outside.catalog);
        self.outside.introduce(&order.context.globalaccount_id);
        let eyes = self.eyes.clone();
        let manager = eyes.lifecycle_manager.as_ref().unwrap();
        let name = format!("kyma-{mark}");
        let kubeconfig = SecretString::from("a kubeconfig");
        manager.write_kubeconfig(&name, &kubeconfig, &Marks::default()).await.unwrap();
        let (store, _) = self.databases.fill(clock).await.open().await;
        let details = Details { kyma_name: Some(name.clone()), ..Details::default() };
        let mut row = row(&order);
        row.details = Some(serde_json::to_vec(&details).unwrap());
        store.insert(&row).await.unwrap();
        let creations = Creations::new(store.clone(), clock.clone());
        let env = Env { store, creations, ..Box::pin(self.outside.env(clock)).await };
        Setting {
            plan: plan(&DeprovisioningLimits::default(), Systems::of(&env)),
            env: Arc::new(env),
            instance: order.instance_id.clone(),
            input: Input { order, user_agent: None, temporary: false },
            data: Data::default(),
            world: Box::new(move || {
                let (eyes, name) = (eyes.clone(), name.clone());
                Box::pin(async move {
                    let manager = eyes.lifecycle_manager.as_ref().unwrap();
                    json!(manager.find_kubeconfig(&name).await.unwrap().is_some())
                })
            }),
        }
    }

    fn comparable(&self, mut data: Value) -> Value {
        // Every trial has an instance of its own.
        data["details"]["kyma_name"] = json!(data["details"]["kyma_name"].is_string());
        data
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_kubeconfig_ends_the_same_way_whatever_happens() {
    let orders = Trying::on(Outside::start(&["aws"], 50).await, false);

    let proof = prove_step(&orders, &orders.databases, "Sync_Kubeconfig").await;

    assert!(proof.crashes > 3 && proof.lost_answers > 0, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_kubeconfig_ends_the_same_way_whatever_happens() {
    let removal = Removal::new().await;

    let tried = try_out(&removal, &removal.databases, None).await;
    let proof = prove_step(&removal, &removal.databases, "Delete_Kubeconfig").await;

    assert_eq!(tried.end.world, json!(false), "{:#?}", tried.journal);
    assert_eq!(tried.end.data["left"], json!([]));
    assert!(proof.crashes > 3 && proof.lost_answers > 0, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_that_cannot_be_deleted_is_left_and_the_removal_goes_on() {
    let removal = Removal::new().await;
    let refused = Rule::next(1_000_000, Kind::Status { status: 500, body: None });
    removal.outside.meet(refused.of("control-plane").on("DELETE", "/"));

    let tried = try_out(&removal, &removal.databases, None).await;

    assert_eq!(tried.end.state, State::Succeeded);
    assert_eq!(tried.end.world, json!(true));
    assert_eq!(tried.end.data["left"], json!(["Delete_Kubeconfig"]), "{:#?}", tried.journal);
    assert!(tried.end.incomplete.contains(&"Delete_Kubeconfig/Delete_Kubeconfig".to_owned()));
}
