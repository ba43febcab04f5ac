//! The generated tests of the plan: each step twice, a crash at every point, every answer lost, each step failing for
//! good; all of it on the embedded database, a sample on PostgreSQL.
//!
//! What a reader would get wrong: all trials of a test share one landscape, each with an instance of its own.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use base::Clock;
use broker::operations::{
    Env,
    deprovisioning::{Data, Deprovisioning, Input, Limits, Reach, Systems, plan},
};
use engine::testing::{Scenario, Setting, Stores, Tried, prove, prove_some, try_out};
use serde_json::{Value, json};
use store::EngineStore;

use crate::{
    furnishing::{Furnished, Parts, there},
    landscape::Landscape,
    rows::{Made, row},
};

/// The plan, tried with an instance as a removal finds it.
pub(crate) struct Trying {
    pub(crate) landscape: Landscape,
    databases: Arc<Slot>,
    count: AtomicUsize,
    parts: Parts,
    /// Clients of the test's own: a system that failed is not left alone by them.
    eyes: Arc<Env>,
}

/// Hands the database of a trial from the scenario, which fills it, to the engine, which opens it.
#[derive(Default)]
struct Slot {
    postgres: bool,
    next: Mutex<Option<Arc<Made>>>,
}

/// The same database, opened as often as a process would.
struct Trials {
    slot: Arc<Slot>,
    made: Option<Arc<Made>>,
}

impl Stores for Trials {
    type Store = EngineStore;

    async fn create(&self, _: &Clock) -> Self {
        let made = self.slot.next.lock().unwrap().take();
        Self { slot: self.slot.clone(), made }
    }

    async fn open(&self) -> Arc<EngineStore> {
        Arc::new(self.made.as_ref().unwrap().open().await.1)
    }
}

impl Trying {
    pub(crate) async fn new(parts: Parts, postgres: bool) -> Self {
        let landscape = Landscape::start().await;
        let eyes = Arc::new(landscape.env(&landscape.clock).await);
        Self {
            landscape,
            eyes,
            databases: Arc::new(Slot { postgres, ..Slot::default() }),
            count: AtomicUsize::new(0),
            parts,
        }
    }

    /// Takes one removal to its end.
    pub(crate) async fn once(&self) -> Tried {
        Box::pin(try_out(self, &self.trials(), None)).await
    }

    fn trials(&self) -> Trials {
        Trials { slot: self.databases.clone(), made: None }
    }
}

impl Scenario for Trying {
    type Operation = Deprovisioning;

    async fn fresh(&self, clock: &Clock) -> Setting<Deprovisioning> {
        let at = self.count.fetch_add(1, SeqCst);
        let made = Made::new(self.databases.postgres, clock, true).await;
        let (rows, storage) = made.open().await;
        let (store, operations) = (rows.clone(), storage.clone());
        let eyes = Arc::new(Reach { env: self.eyes.clone(), store, operations });
        let env = Arc::new(self.landscape.reach(rows.clone(), storage, clock).await);
        let furnished = self.landscape.furnish(&eyes, at, self.parts).await;
        rows.insert(&row(&furnished.order, Some(&furnished.details))).await.unwrap();
        *self.databases.next.lock().unwrap() = Some(made);
        let Furnished { order, .. } = &furnished;
        let input = Input { order: order.clone(), user_agent: None, temporary: false };
        let instance = order.instance_id.clone();
        Setting {
            plan: plan(&Limits::default(), Systems::of(&env)),
            env,
            instance,
            input,
            data: Data::default(),
            world: Box::new(move || {
                let (eyes, furnished) = (eyes.clone(), furnished.clone());
                Box::pin(async move { json!(there(&eyes, &furnished).await) })
            }),
        }
    }

    fn comparable(&self, mut data: Value) -> Value {
        // Ids differ between instances, and times and numbers of calls with the crashes before them.
        let ids = ["runtime_id", "kyma_name", "target_secret", "reconciler_deregistration_at"];
        for id in ids {
            data["details"][id] = json!(data["details"][id].is_string());
        }
        for id in ["internal_id", "external_id"] {
            data["details"]["avs"][id] = json!(data["details"]["avs"][id].is_number());
        }
        data["removals"] = json!(data["removals"].as_array().is_some_and(|all| !all.is_empty()));
        data["services_going_since"] = json!(data["services_going_since"].is_string());
        data
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_a_create_makes_is_gone_in_the_end() {
    let trying = Trying::new(Parts::ALL, false).await;

    let tried = trying.once().await;

    assert_eq!(tried.end.state, engine::State::Succeeded, "{:#?}", tried.journal);
    assert_eq!(tried.end.incomplete, Vec::<String>::new(), "{:#?}", tried.journal);
    assert_eq!(tried.end.world, json!([]));
    assert_eq!(tried.end.data["left"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_the_same_way_whatever_happens_on_sqlite() {
    let trying = Trying::new(Parts::ALL, false).await;

    let proof = Box::pin(prove(&trying, &trying.trials())).await;

    println!("{proof:?}");
    assert!(proof.crashes > 60 && proof.lost_answers > 15, "{proof:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_the_same_way_whatever_happens_on_postgres() {
    let trying = Trying::new(Parts::ALL, true).await;

    let proof = Box::pin(prove_some(&trying, &trying.trials(), 17)).await;

    assert!(proof.trials > 5, "{proof:?}");
}
