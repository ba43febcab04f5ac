//! The engine's contract on both databases: beat, claim, commit, look, wake.
//!
//! Leases and due times are judged by one time only, the database's. On SQLite, which has one
//! process and no server, that is the running clock of the process.

mod abandon;
mod accept;
mod admit;
mod cancel;
pub(crate) mod change;
mod changed;
mod claim;
mod commit;
pub(crate) mod continue_from;
mod heart;
pub(crate) mod import;
mod join;
mod list;
mod lost;
pub(crate) mod of_instances;
mod read;
pub mod refusal;
mod rows;
mod skip;
mod storage;
pub(crate) mod sums;
pub(crate) mod unfinished;
mod wakes;

use std::{collections::HashMap, sync::Arc};

use ::engine::PlantedBug;
use base::Clock;

pub use change::Document;
pub use change::{AppliedChange, ApplyChange};
pub(crate) use change::{instance_of, read_change};
pub use changed::{ChangedElsewhere, ChangedOperation};
pub use continue_from::RetryResult;
pub use heart::EngineHeart;
pub use import::ImportedOperation;
pub use list::{Filter, OperationCount, Page, PageKey};
pub use of_instances::Content;
pub use sums::{EndedSum, NOT_COMPLETED, PlanOf, StepSum, bucket_time};
pub use unfinished::{AdmittedPage, Replica};

use crate::{Database, Moment, Sealer, database::Backend};
use wakes::Wakes;

/// By which time leases and due times are judged.
#[derive(Debug, Clone)]
pub enum Time {
    /// The database's own.
    Database,
    /// A clock that a test holds.
    Held(Clock),
}

/// The engine's store.
#[derive(Clone)]
pub struct EngineStore {
    database: Database,
    sealer: Sealer,
    time: Time,
    local: Clock,
    planted: PlantedBug,
    handlers: Arc<HashMap<&'static str, Arc<dyn ApplyChange>>>,
    wakes: Arc<Wakes>,
}

impl EngineStore {
    /// A store on a migrated database. Must be called inside a tokio runtime.
    pub fn new(database: Database, sealer: Sealer, time: Time, planted: PlantedBug) -> Self {
        if planted.is(PlantedBug::TransactionLeftOpen) {
            database.released().switch_off();
        }
        let wakes = Arc::new(Wakes::start(&database));
        let handlers = Arc::default();
        Self { database, sealer, time, local: Clock::running(), planted, handlers, wakes }
    }

    /// Registers a handler for the changes of one topic. The stores of the services do so themselves.
    #[must_use]
    pub fn with_changes(mut self, handler: Arc<dyn ApplyChange>) -> Self {
        Arc::make_mut(&mut self.handlers).insert(handler.topic(), handler);
        self
    }

    /// The process's own clock: what SQLite goes by, and what [`PlantedBug::LocalClock`] trusts.
    #[must_use]
    pub fn with_local_clock(mut self, clock: Clock) -> Self {
        self.local = clock;
        self
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// The database it works on.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The time to judge by; `None` lets PostgreSQL take its own.
    pub(crate) fn now(&self) -> Option<Moment> {
        match &self.time {
            Time::Held(clock) => Some(clock.now().into()),
            Time::Database => match self.database.writer() {
                Backend::Postgres(_) if !self.planted.is(PlantedBug::LocalClock) => None,
                _ => Some(self.local.now().into()),
            },
        }
    }
}
