//! What operators ask: what is stuck, what fails, how many accounts are left. The API, the command line and the metrics get the same
//! answers from here (`docs/decisions/0140`).
//!
//! What a reader would get wrong: the garden is not read for each question. The pool is read by one caller at a time and kept for half a
//! minute; the numbers of the metrics are computed twice a minute by [`Answers::keep`], however often they are scraped.

mod capacity;
mod gauges;
mod keep;
mod pool;
mod status;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::Clock;
use clients::gardener::{BindingKind, Gardener};
use engine::Operation;
use jiff::Timestamp;
use store::{
    BrokerStore,
    operations::{Operations, OperationsError, Present, UsualDurations},
};

use crate::{
    jobs::{self, Jobs},
    operations::orchestration::Orchestrating,
};

pub use capacity::{Capacity, CapacityList, CapacityState};
pub use gauges::Gauges;
pub use keep::plan_of;
pub use pool::{AccountCounts, PoolReading};
pub use status::{NextJob, Status};

/// The kinds of operations that set their own pace: they are stuck by their limits alone.
pub const PACED: [&str; 2] = [jobs::KIND, <Orchestrating as Operation>::KIND];
/// How long a reading of the pool counts.
const FRESH: Duration = Duration::from_secs(30);
/// How long usual times count.
const USUALS_KEPT: Duration = Duration::from_mins(10);

/// The answers. Clones are the same ones.
#[derive(Clone)]
pub struct Answers(Arc<Inner>);

struct Inner {
    operations: Operations,
    store: BrokerStore,
    jobs: Jobs,
    gardener: Gardener,
    bindings: BindingKind,
    clock: Clock,
    /// The newest reading; locked while the garden is read.
    pool: tokio::sync::Mutex<Option<PoolReading>>,
    /// The usual times; locked while they are read.
    usuals: tokio::sync::Mutex<Option<(Timestamp, Arc<UsualDurations>)>>,
    gauges: Mutex<Gauges>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operations cannot be read.
    #[error(transparent)]
    Operations(#[from] OperationsError),
    /// The broker's rows cannot be read or written.
    #[error("answers: reading samples of the pool")]
    Store(#[from] store::Error),
    /// The garden cannot be read.
    #[error("answers: reading the pool of accounts")]
    Garden(#[from] clients::Error),
    /// The jobs cannot be read.
    #[error("answers: reading jobs")]
    Jobs(#[from] jobs::Error),
}

impl Answers {
    /// The answers of a broker, whose jobs reach this.
    pub fn new(operations: Operations, jobs: Jobs, env: &jobs::Env) -> Self {
        let parts = env.broker.parts();
        Self(Arc::new(Inner {
            operations,
            store: parts.store.clone(),
            jobs,
            gardener: env.gardener.clone(),
            bindings: env.account_bindings,
            clock: parts.clock.clone(),
            pool: tokio::sync::Mutex::default(),
            usuals: tokio::sync::Mutex::default(),
            gauges: Mutex::default(),
        }))
    }

    /// The current work, the waits with their reasons, and stuck operations.
    pub async fn present(&self) -> Result<Present, Error> {
        let usuals = self.usuals().await?;
        Ok(self.0.operations.present_by(&PACED, &usuals).await?)
    }

    /// How long things usually take, not older than ten minutes.
    async fn usuals(&self) -> Result<Arc<UsualDurations>, Error> {
        let now = self.now();
        let mut kept = self.0.usuals.lock().await;
        if let Some((_, usuals)) = kept.as_ref().filter(|(at, _)| *at + USUALS_KEPT > now) {
            return Ok(usuals.clone());
        }
        let usuals = Arc::new(self.0.operations.usuals().await?);
        *kept = Some((now, usuals.clone()));
        Ok(usuals)
    }

    /// The pool of accounts, not older than half a minute.
    pub async fn pool(&self) -> Result<PoolReading, Error> {
        let now = self.now();
        let mut kept = self.0.pool.lock().await;
        if let Some(reading) = kept.as_ref().filter(|reading| reading.at + FRESH > now) {
            return Ok(reading.clone());
        }
        let pool = self.0.gardener.pool(self.0.bindings);
        let reading = PoolReading::of(&pool.list(pool::LABELLED).await?, now);
        *kept = Some(reading.clone());
        Ok(reading)
    }

    /// How long the free accounts last.
    pub async fn capacity(&self) -> Result<CapacityList, Error> {
        let reading = self.pool().await?;
        let samples = self.0.store.pool_since(reading.at - capacity::WINDOW).await?;
        Ok(CapacityList::of(&reading, &samples))
    }

    /// The numbers of the metrics, as they were computed last.
    pub fn gauges(&self) -> Gauges {
        self.0.gauges.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}
