//! The bench of every promise: a store, a clock in the test's hand, and a few short words.

use std::{ops::Deref, time::Duration};

use base::Clock;
use engine::{
    OperationId, PlantedBug, Position, ReplicaId, State, Storage,
    storage::{
        Acceptance, AfterCommit, ClaimRequest, ClaimResult, Commit, CommitResult, HeldOperation,
        NewOperation, Outcome, Run, Snapshot, Unfinished, Verdict,
    },
    testing::{Faults, SimulatedStore},
};
use jiff::Timestamp;
use store::{Database, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};
use uuid::Uuid;

pub(crate) const LEASE: Duration = Duration::from_secs(10);
pub(crate) const KIND: &str = "provision";

/// A store and the clock it goes by.
pub(crate) struct Bench<S = EngineStore> {
    pub(crate) store: S,
    pub(crate) clock: Clock,
}

/// A bench on a real database.
pub(crate) struct OnDatabase {
    bench: Bench,
    pub(crate) sealer: Sealer,
    pub(crate) database: Database,
    pub(crate) test: TestDatabase,
}

impl Deref for OnDatabase {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.bench
    }
}

/// A bench on the engine's simulated store.
pub(crate) struct OnSimulation(Bench<SimulatedStore>);

impl Deref for OnSimulation {
    type Target = Bench<SimulatedStore>;

    fn deref(&self) -> &Bench<SimulatedStore> {
        &self.0
    }
}

impl Bench {
    #[expect(clippy::unused_async, reason = "made like the benches on databases")]
    pub(crate) async fn simulated() -> OnSimulation {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        let store = SimulatedStore::new(clock.clone(), 1, Faults::default(), PlantedBug::Nothing);
        OnSimulation(Bench { store, clock })
    }

    pub(crate) async fn sqlite() -> OnDatabase {
        Self::on(TestDatabase::sqlite()).await
    }

    pub(crate) async fn postgres() -> OnDatabase {
        Self::on(TestDatabase::postgres().await).await
    }

    pub(crate) async fn on(test: TestDatabase) -> OnDatabase {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        let (bench, sealer) = Self::over(database.clone());
        OnDatabase { bench, sealer, database, test }
    }

    pub(crate) fn over(database: Database) -> (Self, Sealer) {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        let sealer = Sealer::generate();
        let time = Time::Held(clock.clone());
        let store = EngineStore::new(database, sealer.clone(), time, PlantedBug::Nothing);
        (Self { store, clock }, sealer)
    }
}

impl OnDatabase {
    /// The same database with a bug in the store.
    pub(crate) fn with(&self, planted: PlantedBug) -> Bench {
        let time = Time::Held(self.clock.clone());
        let (database, sealer) = (self.database.clone(), self.sealer.clone());
        Bench {
            store: EngineStore::new(database, sealer, time, planted),
            clock: self.clock.clone(),
        }
    }
}

impl<S: Storage> Bench<S> {
    pub(crate) async fn join(&self, name: &str) -> ReplicaId {
        self.store.join(name, LEASE).await.unwrap().replica
    }

    /// Accepts an operation in lane "a", behind whatever is unfinished.
    pub(crate) async fn accept(&self, instance: &str) -> OperationId {
        self.accept_new(new(instance, "a")).await.0
    }

    pub(crate) async fn accept_new(&self, new: NewOperation) -> (OperationId, Acceptance) {
        let id = new.id;
        (id, self.store.accept(new, &queue).await.unwrap())
    }

    pub(crate) async fn claim(&self, replica: ReplicaId, room: usize) -> Vec<HeldOperation> {
        self.ask(replica, room, "", &[]).await.operations
    }

    pub(crate) async fn ask(
        &self,
        replica: ReplicaId,
        room: usize,
        after_lane: &str,
        crowded: &[String],
    ) -> ClaimResult {
        let kinds = [(KIND.to_owned(), 1)];
        let ask = ClaimRequest { replica, kinds: &kinds, room, crowded, after_lane };
        self.store.claim(&ask).await.unwrap()
    }

    /// Accepts and claims one operation.
    pub(crate) async fn held(&self, replica: ReplicaId, instance: &str) -> HeldOperation {
        let id = self.accept(instance).await;
        self.claim(replica, 100).await.into_iter().find(|held| held.id == id).unwrap()
    }

    pub(crate) async fn commit(&self, replica: ReplicaId, commit: Commit) -> CommitResult {
        self.store.commit(replica, &[commit]).await.unwrap().remove(0)
    }

    pub(crate) async fn read(&self, id: OperationId) -> Snapshot {
        self.store.read(id).await.unwrap().unwrap()
    }

    pub(crate) fn later(&self, seconds: u64) -> Timestamp {
        self.clock.now() + Duration::from_secs(seconds)
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Keeps a lease alive over a long wait.
    pub(crate) async fn wait_alive(&self, replica: ReplicaId, seconds: u64) {
        use engine::storage::Heart as _;
        let mut heart = self.store.heart().await.unwrap();
        for _ in 0..seconds {
            self.wait(1);
            assert!(heart.beat(replica, LEASE).await.unwrap().alive);
        }
    }

    fn run(&self, held: &HeldOperation, outcome: Outcome) -> Run {
        Run {
            stage: "create".into(),
            step: "Ask".into(),
            number: held.runs + 1,
            began_at: self.clock.now(),
            ended_at: self.clock.now(),
            outcome,
            reason: None,
            failure: None,
            next_at: None,
            repeats: None,
        }
    }

    /// A step is done, its owner goes on.
    pub(crate) fn done(&self, held: &HeldOperation) -> Commit {
        let position = Position {
            state: State::InProgress,
            stage: Some("create".into()),
            step: Some("Check".into()),
            started_at: Some(self.clock.now()),
            ..held.position.clone()
        };
        Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position,
            then: AfterCommit::Hold,
            run: Some(self.run(held, Outcome::Done)),
            data: None,
            data_version: held.data_version,
            changes: Vec::new(),
        }
    }

    /// A step waits for something.
    pub(crate) fn sleeps(
        &self,
        held: &HeldOperation,
        seconds: u64,
        awaits: Option<&str>,
    ) -> Commit {
        let until = self.later(seconds);
        let mut commit = self.done(held);
        commit.then = AfterCommit::Sleep { until, awaits: awaits.map(Into::into) };
        commit.position.note = Some("not yet".into());
        let mut run = self.run(held, Outcome::Wait);
        run.reason = Some("not yet".into());
        run.next_at = Some(until);
        commit.run = Some(run);
        commit
    }

    /// The last step is done.
    pub(crate) fn ends(&self, held: &HeldOperation, state: State) -> Commit {
        let mut commit = self.done(held);
        commit.position.state = state;
        commit.position.stage = None;
        commit.position.step = None;
        commit.position.closed = vec!["create".into()];
        commit.position.ended_at = Some(self.clock.now());
        commit.then = AfterCommit::End;
        commit
    }
}

/// Whatever is unfinished, the new one waits behind it.
pub(crate) fn queue(_: &[Unfinished]) -> Verdict {
    Verdict::Queue
}

/// A new operation.
pub(crate) fn new(instance: &str, lane: &str) -> NewOperation {
    NewOperation {
        id: Uuid::now_v7(),
        instance: instance.into(),
        kind: KIND.into(),
        data_version: 1,
        lane: lane.into(),
        input: b"input".to_vec(),
        data: b"data".to_vec(),
        digest: None,
    }
}

/// An operation after a commit of it has landed.
pub(crate) fn after(
    mut held: HeldOperation,
    commit: &Commit,
    landed: &CommitResult,
) -> HeldOperation {
    let CommitResult::Yes { journal, cancel } = landed else {
        panic!("it did not land: {landed:?}")
    };
    held.serial += 1;
    held.runs += i64::from(commit.run.is_some());
    held.journal = *journal;
    held.cancel.clone_from(cancel);
    held.position = commit.position.clone();
    held
}

pub(crate) fn landed(landed: &CommitResult) -> bool {
    matches!(landed, CommitResult::Yes { .. })
}
