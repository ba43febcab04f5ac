//! A broker that works on removals, between a landscape and a database.
//!
//! What a reader would get wrong: polls are a thousand times faster than written; limits are as written, so tests that
//! reach one set it low.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use broker::{
    Order,
    chores::{
        leftovers::{self, Leftover},
        retrigger::{RetriggerResult, retrigger},
    },
    operations::{
        Env, Systems,
        deprovisioning::{Data, Deprovisioning, DeprovisioningLimits, Input, legacy, plan},
    },
};
use clients::avs::Trial;
use engine::{
    Engine, Operation, OperationId, Plan, Storage,
    storage::{Acceptance, Snapshot, Unfinished, Verdict},
};
use store::{
    BrokerStore, EngineStore,
    testing::{PreparedDatabase, Sort},
};
use uuid::Uuid;

use crate::{
    creating::{self, Creating},
    furnishing::{FurnishedInstance, FurnishedParts, order, there},
    landscape::Landscape,
    rows::row,
};

pub(crate) struct World {
    pub(crate) landscape: Landscape,
    pub(crate) env: Arc<Env>,
    /// Clients of the test's own: a system that failed is not left alone by them.
    pub(crate) eyes: Env,
    pub(crate) engine: Engine<EngineStore>,
    count: AtomicUsize,
    _database: PreparedDatabase<BrokerStore>,
}

/// What fails, fails soon; what waits may wait.
pub(crate) fn impatient() -> DeprovisioningLimits {
    let while_loaded = Duration::from_secs(60);
    DeprovisioningLimits {
        failing: Duration::from_millis(400),
        services: while_loaded,
        kyma: while_loaded,
        reconciler: while_loaded,
        runtime: while_loaded,
        ..DeprovisioningLimits::default()
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(impatient()).await
    }

    pub(crate) async fn with(limits: DeprovisioningLimits) -> Self {
        Self::following(Landscape::start().await, plan, limits).await
    }

    /// A broker that follows the legacy plans.
    pub(crate) async fn legacy() -> Self {
        Self::following(Landscape::start().await, legacy::plan, impatient()).await
    }

    /// A broker whose evaluations of trial and free runtimes have a parent of their own.
    pub(crate) async fn with_trial_parent(trial: Trial) -> Self {
        let mut landscape = Landscape::start().await;
        landscape.trial = Some(trial);
        Self::following(landscape, plan, impatient()).await
    }

    async fn following(
        landscape: Landscape,
        plan: fn(&DeprovisioningLimits, Systems) -> Plan<Deprovisioning>,
        limits: DeprovisioningLimits,
    ) -> Self {
        let clock = landscape.clock.clone();
        let database = PreparedDatabase::<BrokerStore>::running(Sort::Sqlite, &clock).await;
        let (rows, storage) = database.open().await;
        let eyes = landscape.env(rows.clone(), &clock).await;
        let env = Arc::new(landscape.env(rows, &clock).await);
        let settings = engine::Settings { pace: 1_000.0, ..engine::Settings::default() };
        let (creating, nothing) = creating::plan();
        let engine = Engine::builder(Arc::new(storage), clock, settings)
            .serve(plan(&limits, Systems::of(&env)), env.clone())
            .unwrap()
            .serve(creating, nothing)
            .unwrap()
            .start();
        let count = AtomicUsize::new(0);
        Self { landscape, env, eyes, engine, count, _database: database }
    }

    pub(crate) fn next_order(&self, plan: &str) -> Order {
        order(self.count.fetch_add(1, SeqCst), plan)
    }

    /// An instance that was made.
    pub(crate) async fn made(&self, parts: FurnishedParts) -> FurnishedInstance {
        self.made_of(self.next_order("aws"), parts).await
    }

    pub(crate) async fn made_of(&self, order: Order, parts: FurnishedParts) -> FurnishedInstance {
        let made = Box::pin(self.landscape.furnish_order(&self.eyes, order, parts)).await;
        self.env.store.insert(&row(&made.order, Some(&made.details))).await.unwrap();
        made
    }

    /// Orders a removal.
    pub(crate) async fn remove(&self, order: &Order, temporary: bool) -> OperationId {
        self.remove_as(Input { order: order.clone(), user_agent: None, temporary }).await
    }

    /// Orders just this removal.
    pub(crate) async fn remove_as(&self, input: Input) -> OperationId {
        let order = input.order.clone();
        let order = ordered::<Deprovisioning>(&order, input, Data::default());
        let id = order.id;
        let accepted = self.engine.accept(order, &|_| Verdict::Queue).await.unwrap();
        assert_eq!(accepted, Acceptance::Started);
        id
    }

    /// Orders a removal that stops another operation.
    pub(crate) async fn remove_instead_of(&self, order: &Order, other: OperationId) -> OperationId {
        let input = Input { order: order.clone(), user_agent: None, temporary: false };
        let order = ordered::<Deprovisioning>(order, input, Data::default());
        let id = order.id;
        let stop = |_: &[Unfinished]| Verdict::Supersede(vec![other], "it is removed".into());
        assert_eq!(self.engine.accept(order, &stop).await.unwrap(), Acceptance::Queued);
        id
    }

    /// A create that has made all this and goes on.
    pub(crate) async fn create(&self, made: &FurnishedInstance) -> OperationId {
        let order = ordered::<Creating>(&made.order, (), made.details.clone());
        let id = order.id;
        self.engine.accept(order, &|_| Verdict::Queue).await.unwrap();
        id
    }

    /// Removes an instance and waits for the end.
    pub(crate) async fn removed(&self, made: &FurnishedInstance) -> Snapshot {
        let id = self.remove(&made.order, false).await;
        self.end_of(id).await
    }

    /// Tries again what is left and waits for the end.
    pub(crate) async fn removed_again(&self, made: &FurnishedInstance) -> Snapshot {
        let instance = &made.order.instance_id;
        let again = retrigger(self.engine.storage(), &self.env.store, instance).await.unwrap();
        let RetriggerResult::Begun(id) = again else { panic!("{again:?}") };
        self.end_of(id).await
    }

    pub(crate) async fn end_of(&self, id: OperationId) -> Snapshot {
        let mut events = self.engine.events();
        let waiting = async {
            loop {
                let found = self.engine.storage().read(id).await.unwrap().unwrap();
                if found.state.is_final() {
                    return found;
                }
                let soon = self.landscape.clock.sleep(Duration::from_millis(100));
                tokio::select! { _ = events.recv() => {}, () = soon => {} }
            }
        };
        match tokio::time::timeout(Duration::from_secs(120), waiting).await {
            Ok(ended) => {
                assert_eq!(ended.state, engine::State::Succeeded, "{:?}", ended.failure);
                ended
            }
            Err(elapsed) => {
                let why = self.engine.explain(id).await.unwrap();
                panic!("it does not end ({elapsed}): {why:?}")
            }
        }
    }

    /// Whether the operation waits in a step.
    pub(crate) async fn waits_in(&self, id: OperationId, step: &str) -> bool {
        let found = self.engine.storage().read(id).await.unwrap().unwrap();
        found.step.as_deref() == Some(step) && found.note.is_some()
    }

    /// The steps that ran.
    pub(crate) async fn steps_of(&self, id: OperationId) -> BTreeSet<String> {
        let journal = self.engine.storage().journal(id).await.unwrap();
        journal.into_iter().filter_map(|entry| entry.step).filter(|s| !s.is_empty()).collect()
    }

    pub(crate) async fn there(&self, made: &FurnishedInstance) -> Vec<String> {
        there(&self.eyes, &self.env.store, made).await
    }

    pub(crate) async fn left_of(&self, made: &FurnishedInstance) -> Option<Leftover> {
        let store = &self.env.store;
        leftovers::of(store, store.engine(), &made.order.instance_id).await.unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.engine.kill();
    }
}

fn ordered<O: Operation>(order: &Order, input: O::Input, data: O::Data) -> engine::Order<O> {
    engine::Order {
        id: Uuid::now_v7(),
        instance: order.instance_id.clone(),
        lane: order.context.globalaccount_id.clone(),
        input,
        data,
        digest: None,
    }
}

/// The names of steps without their stages.
pub(crate) fn incomplete(ended: &Snapshot) -> Vec<&str> {
    ended.incomplete.iter().map(|at| at.rsplit('/').next().unwrap()).collect()
}
