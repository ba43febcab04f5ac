//! Databases with tables, opened as often as a process would.

use std::marker::PhantomData;

use base::{Clock, failure::chain};
use engine::PlantedBug;

use super::TestDatabase;
use crate::{BrokerStore, EngineStore, ProvisionerStore, Sealer, Set, engine::Time};

/// Which database a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// The rows that stand beside the engine's; `()` for none.
pub trait Rows: Sized + Send + Sync + 'static {
    /// Their tables.
    const SET: Option<Set>;

    /// The rows' store, and the engine's store that writes them together with its own.
    fn beside(engine: EngineStore, clock: &Clock) -> (Self, EngineStore);
}

impl Rows for () {
    const SET: Option<Set> = None;

    fn beside(engine: EngineStore, _: &Clock) -> (Self, EngineStore) {
        ((), engine)
    }
}

impl Rows for BrokerStore {
    const SET: Option<Set> = Some(Set::Broker);

    fn beside(engine: EngineStore, clock: &Clock) -> (Self, EngineStore) {
        let rows = Self::new(engine, clock.clone());
        let engine = rows.engine().clone();
        (rows, engine)
    }
}

impl Rows for ProvisionerStore {
    const SET: Option<Set> = Some(Set::Provisioner);

    fn beside(engine: EngineStore, clock: &Clock) -> (Self, EngineStore) {
        let rows = Self::new(engine, clock.clone());
        let engine = rows.engine().clone();
        (rows, engine)
    }
}

/// A database with its tables.
pub struct PreparedDatabase<R> {
    test: TestDatabase,
    sealer: Sealer,
    time: Time,
    clock: Clock,
    rows: PhantomData<fn() -> R>,
}

impl<R: Rows> PreparedDatabase<R> {
    /// On a clock that the test holds.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn held(sort: Sort, clock: &Clock) -> Self {
        Self::new(sort, clock, Time::Held(clock.clone())).await
    }

    /// On the database's clock.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn running(sort: Sort, clock: &Clock) -> Self {
        Self::new(sort, clock, Time::Database).await
    }

    async fn new(sort: Sort, clock: &Clock, time: Time) -> Self {
        let test = match sort {
            Sort::Sqlite => TestDatabase::sqlite(),
            Sort::Postgres => TestDatabase::postgres().await,
        };
        let database = test.database().await;
        for set in [Some(Set::Engine), R::SET].into_iter().flatten() {
            database.migrate(set).await.unwrap_or_else(|error| panic!("{}", chain(&error)));
        }
        database.close().await;
        let (sealer, clock) = (Sealer::generate(), clock.clone());
        Self { test, sealer, time, clock, rows: PhantomData }
    }

    /// Opens it, as a starting process would.
    ///
    /// # Panics
    /// When it cannot be opened.
    pub async fn open(&self) -> (R, EngineStore) {
        let database = self.test.database().await;
        let (sealer, time) = (self.sealer.clone(), self.time.clone());
        let engine = EngineStore::new(database, sealer, time, PlantedBug::Nothing);
        R::beside(engine, &self.clock)
    }
}
