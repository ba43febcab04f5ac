//! The generated tests of a plan on a real database: a crash drops the engine and opens it again.
//!
//! What a reader would get wrong: a scenario that needs rows makes the database of its trial itself, with
//! [`Trials::fill`]; the engine then opens that one.

use std::sync::{Arc, Mutex, PoisonError};

use base::Clock;
use engine::testing::Stores;

use super::{PreparedDatabase, Rows, Sort};
use crate::EngineStore;

/// A database per trial, opened as often as a process would. Clones share the one that is filled.
pub struct Trials<R> {
    sort: Sort,
    filled: Arc<Mutex<Option<Arc<PreparedDatabase<R>>>>>,
    made: Option<Arc<PreparedDatabase<R>>>,
}

impl<R: Rows> Trials<R> {
    /// Trials on this sort of database.
    pub fn on(sort: Sort) -> Self {
        Self { sort, filled: Arc::default(), made: None }
    }

    /// The database of the next trial on this clock, to be filled before the engine opens it.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn fill(&self, clock: &Clock) -> Arc<PreparedDatabase<R>> {
        let made = Arc::new(PreparedDatabase::held(self.sort, clock).await);
        *self.filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(made.clone());
        made
    }
}

impl<R> Clone for Trials<R> {
    fn clone(&self) -> Self {
        Self { sort: self.sort, filled: self.filled.clone(), made: self.made.clone() }
    }
}

impl<R: Rows> Stores for Trials<R> {
    type Store = EngineStore;

    async fn create(&self, clock: &Clock) -> Self {
        let filled = self.filled.lock().unwrap_or_else(PoisonError::into_inner).take();
        let made = match filled {
            Some(filled) => filled,
            None => Arc::new(PreparedDatabase::held(self.sort, clock).await),
        };
        Self { made: Some(made), ..self.clone() }
    }

    async fn open(&self) -> Arc<EngineStore> {
        let Some(made) = &self.made else { panic!("create makes a database before it is opened") };
        Arc::new(made.open().await.1)
    }
}
