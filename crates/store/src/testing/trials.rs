//! The generated tests of a plan on a real database: a crash drops the engine and opens it again.

use std::sync::Arc;

use base::{Clock, failure::chain};
use engine::{Planted, testing::Stores};

use super::TestDatabase;
use crate::{Database, EngineStore, Options, Sealer, Set, engine::Time};

/// Which database trials run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Sqlite,
    Postgres,
}

/// Makes a database per trial, and opens it as often as a process would.
pub struct Trials {
    sort: Sort,
    made: Option<Made>,
}

struct Made {
    test: TestDatabase,
    sealer: Sealer,
    clock: Clock,
}

impl Trials {
    /// Trials on SQLite.
    pub fn sqlite() -> Self {
        Self { sort: Sort::Sqlite, made: None }
    }

    /// Trials on PostgreSQL.
    pub fn postgres() -> Self {
        Self { sort: Sort::Postgres, made: None }
    }
}

impl Stores for Trials {
    type Store = EngineStore;

    async fn create(&self, clock: &Clock) -> Self {
        let test = match self.sort {
            Sort::Sqlite => TestDatabase::sqlite(),
            Sort::Postgres => TestDatabase::postgres().await,
        };
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap_or_else(|error| panic!("{}", chain(&error)));
        database.close().await;
        let made = Made { test, sealer: Sealer::generate(), clock: clock.clone() };
        Self { sort: self.sort, made: Some(made) }
    }

    async fn open(&self) -> Arc<EngineStore> {
        let Some(made) = &self.made else { panic!("create makes a database before it is opened") };
        let options = Options::new(made.test.url());
        let database =
            Database::open(&options).await.unwrap_or_else(|error| panic!("{}", chain(&error)));
        let time = Time::Held(made.clock.clone());
        Arc::new(EngineStore::new(database, made.sealer.clone(), time, Planted::Nothing))
    }
}
