//! The engine as services see it: serve plans, accept operations, watch them, stop.

use std::{collections::HashMap, sync::Arc, time::Duration};

use base::{Clock, Failure};
use serde::Serialize;
use tokio::{
    sync::{broadcast, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    events::Event,
    explain::{self, Explanation},
    hooks::Hooks,
    opened::{AnyPlan, ServedPlan},
    operation::Operation,
    plan::{Plan, PlanError, Shape},
    position::State,
    settings::Settings,
    storage::{
        Acceptance, Cancel, NewOperation, OperationId, Pairs, ReplicaId, Skip, Storage,
        StorageError,
    },
    worker::Replica,
};

/// Puts an engine together.
pub struct Builder<S> {
    storage: Arc<S>,
    clock: Clock,
    settings: Settings,
    plans: HashMap<String, Arc<dyn AnyPlan>>,
    hooks: Option<Arc<dyn Hooks>>,
}

impl<S: Storage> Builder<S> {
    /// An engine on this store and clock.
    pub fn new(storage: Arc<S>, clock: Clock, settings: Settings) -> Self {
        Self { storage, clock, settings, plans: HashMap::new(), hooks: None }
    }

    /// Serves a plan; refused when it cannot work.
    pub fn serve<O: Operation>(
        mut self,
        plan: Plan<O>,
        env: Arc<O::Env>,
    ) -> Result<Self, PlanError> {
        let served = ServedPlan { plan: plan.check()?, env };
        self.plans.insert(O::KIND.to_owned(), Arc::new(served));
        Ok(self)
    }

    /// The plans served so far, without their code, by kind.
    pub fn shapes(&self) -> Vec<Arc<Shape>> {
        shapes(&self.plans)
    }

    /// Lets tests watch and crash runs.
    #[must_use]
    pub fn hooks(mut self, hooks: Arc<dyn Hooks>) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// The plans served so far.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn served(&self) -> HashMap<String, Arc<dyn AnyPlan>> {
        self.plans.clone()
    }

    /// Serves plans that another builder has checked.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub(crate) fn serve_again(mut self, plans: HashMap<String, Arc<dyn AnyPlan>>) -> Self {
        self.plans = plans;
        self
    }

    pub(crate) fn replica(self) -> Replica<S> {
        let mut random =
            self.settings.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let name =
            self.settings.replica.clone().unwrap_or_else(|| format!("{:016x}", random.u64(..)));
        Replica {
            storage: self.storage,
            clock: self.clock,
            settings: Arc::new(self.settings),
            name,
            plans: Arc::new(self.plans),
            events: broadcast::channel(4_096).0,
            random: Arc::new(std::sync::Mutex::new(random)),
            hooks: self.hooks,
            stopping: CancellationToken::new(),
            stop_now: CancellationToken::new(),
            crashed: CancellationToken::new(),
            alive: watch::channel(None).0,
        }
    }

    /// Starts working.
    pub fn start(self) -> Engine<S> {
        let replica = Arc::new(self.replica());
        let worker = tokio::spawn(replica.clone().work());
        Engine { replica, worker: Arc::new(std::sync::Mutex::new(Some(worker))) }
    }
}

fn shapes(plans: &HashMap<String, Arc<dyn AnyPlan>>) -> Vec<Arc<Shape>> {
    let mut shapes: Vec<_> = plans.values().map(|plan| plan.shape().clone()).collect();
    shapes.sort_by(|a, b| a.kind.cmp(&b.kind));
    shapes
}

/// A working replica. Clones share it; dropping it does not stop it.
pub struct Engine<S> {
    replica: Arc<Replica<S>>,
    worker: Arc<std::sync::Mutex<Option<JoinHandle<()>>>>,
}

impl<S> Clone for Engine<S> {
    fn clone(&self) -> Self {
        Self { replica: self.replica.clone(), worker: self.worker.clone() }
    }
}

/// An operation to be accepted, with its types.
pub struct Order<O: Operation> {
    /// Its id.
    pub id: OperationId,
    /// The instance.
    pub instance: String,
    /// The tenant.
    pub lane: String,
    /// The request.
    pub input: O::Input,
    /// The details that are known already.
    pub data: O::Data,
    /// A keyed digest of the request.
    pub digest: Option<Vec<u8>>,
}

impl<O: Operation> Order<O> {
    /// The order as the store takes it.
    pub fn encoded(&self) -> Result<NewOperation, StorageError> {
        let bytes = |value: &dyn erased::Json| {
            value.bytes().map_err(|error| StorageError::Refused(error.to_string()))
        };
        Ok(NewOperation {
            id: self.id,
            instance: self.instance.clone(),
            kind: O::KIND.to_owned(),
            data_version: O::VERSION,
            lane: self.lane.clone(),
            input: bytes(&self.input)?,
            data: bytes(&self.data)?,
            digest: self.digest.clone(),
        })
    }
}

mod erased {
    use super::Serialize;

    /// Anything that can be written as JSON.
    pub(super) trait Json {
        fn bytes(&self) -> Result<Vec<u8>, serde_json::Error>;
    }

    impl<T: Serialize> Json for T {
        fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
            serde_json::to_vec(self)
        }
    }
}

impl<S: Storage> Engine<S> {
    /// Begins to put an engine together.
    pub fn builder(storage: Arc<S>, clock: Clock, settings: Settings) -> Builder<S> {
        Builder::new(storage, clock, settings)
    }

    /// The store.
    pub fn storage(&self) -> &Arc<S> {
        &self.replica.storage
    }

    /// Engine time: the database's.
    pub fn clock(&self) -> &Clock {
        &self.replica.clock
    }

    /// Accepts an operation, or does not, as `pairs` says.
    pub async fn accept<O: Operation>(
        &self,
        order: Order<O>,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, StorageError> {
        self.replica.storage.accept(order.encoded()?, pairs).await
    }

    /// Asks an operation to end at its next step boundary. `false` when it is final or unknown.
    pub async fn cancel(
        &self,
        id: OperationId,
        reason: impl Into<String>,
    ) -> Result<bool, StorageError> {
        let cancel = Cancel { state: State::Canceled, reason: reason.into() };
        self.replica.storage.request_cancel(id, &cancel).await
    }

    /// Asks that a step of the open stage is recorded as executed but not completed, and not run any more.
    pub async fn skip(&self, id: OperationId, skip: &Skip) -> Result<bool, StorageError> {
        self.replica.storage.request_skip(id, skip).await
    }

    /// Ends an operation as failed now, whatever its step does: the step is dropped within seconds, before the next operation of
    /// the instance begins. A call that is on its way to an outside system is not taken back. `false` when it is final or unknown.
    pub async fn abandon(
        &self,
        id: OperationId,
        reason: impl Into<String>,
    ) -> Result<bool, StorageError> {
        let failure = Failure::new("engine", "abandoned", base::failure::shortened(reason.into()));
        self.replica.storage.abandon(id, &failure).await
    }

    /// A new operation that continues a final one: only what was not completed runs.
    pub async fn retry(
        &self,
        old: OperationId,
        pairs: &Pairs<'_>,
    ) -> Result<(OperationId, Acceptance), StorageError> {
        let new = Uuid::now_v7();
        let acceptance = self.replica.storage.continue_from(old, new, pairs).await?;
        Ok((new, acceptance))
    }

    /// Wakes the steps that wait for this signal, wherever they sleep.
    pub async fn signal(&self, signal: &str) -> Result<(), StorageError> {
        self.replica.storage.signal(signal).await
    }

    /// Events from now on, after each commit of this replica. Slow readers miss events.
    pub fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.replica.events.subscribe()
    }

    /// The plan of a kind, without its code.
    pub fn shape(&self, kind: &str) -> Option<Arc<Shape>> {
        self.replica.plans.get(kind).map(|plan| plan.shape().clone())
    }

    /// All plans, without their code, by kind.
    pub fn shapes(&self) -> Vec<Arc<Shape>> {
        shapes(&self.replica.plans)
    }

    /// Why an operation does not go on right now.
    pub async fn explain(&self, id: OperationId) -> Result<Option<Explanation>, StorageError> {
        let Some(snapshot) = self.replica.storage.read(id).await? else { return Ok(None) };
        let shape = self.shape(&snapshot.kind);
        Ok(Some(explain::explain(shape.as_deref(), &snapshot, self.replica.clock.now())))
    }

    /// The incarnation that works right now; `None` while there is no lease.
    pub fn alive(&self) -> watch::Receiver<Option<ReplicaId>> {
        self.replica.alive.subscribe()
    }

    /// Finishes what runs within `drain`, hands back the rest, and returns when nothing runs any more.
    pub async fn stop(&self, drain: Duration) {
        self.replica.stopping.cancel();
        let worker = self.worker.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(mut worker) = worker else { return };
        tokio::select! {
            biased;
            _ = &mut worker => return,
            () = self.replica.clock.sleep(drain) => {}
        }
        self.replica.stop_now.cancel();
        let _ = worker.await;
    }

    /// Stops as if the process had died: nothing is finished, nothing handed back. For tests.
    pub fn kill(&self) {
        self.replica.kill();
        if let Some(worker) =
            self.worker.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
        {
            worker.abort();
        }
    }
}
