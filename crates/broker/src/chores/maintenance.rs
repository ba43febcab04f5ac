//! Ends the maintenance that upgrades have begun: evaluations get the status back that they had, customers are told that it is over.
//!
//! What a reader would get wrong: every upgrade is ended here and nowhere else, whether it succeeded, failed, was stopped or died with its
//! replica. Every replica does it; each maintenance is taken with one statement, so that one replica gets it.

use std::time::Duration;

use base::{Clock, failure::chain};
use clients::{
    Error as CallError, Kind,
    avs::{Avs, Status},
    spc::{Event, EventType, Spc, Tenant},
};
use engine::Operation;
use futures::{StreamExt, stream};
use store::{BrokerStore, broker::Maintenance};

use crate::operations::{
    Env,
    shared::upgrading::{Upgrading, avs_maintenance::status_before},
    upgrade_cluster::UpgradingCluster,
    upgrade_kyma::UpgradingKyma,
};

/// How many are ended in one go, and how many of them at once.
const MOST: u32 = 200;
const AT_ONCE: usize = 8;
/// How long things take that nobody is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How often somebody looks.
    pub every: Duration,
    /// For how long a maintenance is one replica's, and how long after a failure it is tried again.
    pub hold: Duration,
    /// How long a call of an upgrade that did not end well may still be on its way.
    pub settled: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(5),
            hold: Duration::from_mins(2),
            settled: Duration::from_secs(30),
        }
    }
}

/// Ends maintenance.
#[derive(Clone)]
pub struct MaintenanceEnding {
    store: BrokerStore,
    avs: Option<Avs>,
    spc: Option<Spc>,
    clock: Clock,
    times: Times,
}

/// Why the maintenance of a runtime cannot be ended now.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Goes on until it is dropped.
pub async fn keep(ending: MaintenanceEnding) {
    loop {
        if let Err(error) = ending.end_due().await {
            tracing::warn!(error = chain(&error), "cannot end maintenance, trying again later");
        }
        ending.clock.sleep(ending.times.every).await;
    }
}

impl MaintenanceEnding {
    /// With the clients that steps have.
    pub fn new(env: &Env, clock: Clock, times: Times) -> Self {
        Self { store: env.store.clone(), avs: env.avs.clone(), spc: env.spc.clone(), clock, times }
    }

    /// Ends the maintenance of upgrades that have ended, at most of some; of how many it did.
    pub async fn end_due(&self) -> Result<usize, store::Error> {
        let due = self.store.due_maintenances(self.times.settled, MOST).await?;
        let ends = stream::iter(due).map(|due| async move { self.try_to_end(&due).await });
        let ended = ends.buffer_unordered(AT_ONCE).filter(|ended| std::future::ready(*ended));
        Ok(ended.count().await)
    }

    async fn try_to_end(&self, due: &Maintenance) -> bool {
        match self.end(due).await {
            Ok(ended) => ended,
            Err(error) => {
                tracing::warn!(
                    instance.id = due.instance,
                    operation.id = %due.operation,
                    error = chain(&error),
                    "maintenance of a runtime cannot be ended, trying again later"
                );
                false
            }
        }
    }

    /// `false`: another replica ends it.
    async fn end(&self, due: &Maintenance) -> Result<bool, Error> {
        if !self.store.take_maintenance(due, self.times.hold).await? {
            return Ok(false);
        }
        if !due.evaluations.is_empty() {
            self.restore(due).await?;
            self.store.restored_evaluations(due.operation).await?;
        }
        self.announce(due).await?;
        self.store.forget_maintenance(due.operation).await?;
        Ok(true)
    }

    /// Gives evaluations the status back that they had. What somebody has changed meanwhile, or removed, is left alone.
    async fn restore(&self, due: &Maintenance) -> Result<(), Error> {
        let Some(avs) = &self.avs else {
            tracing::warn!(
                instance.id = due.instance,
                "evaluations stay in maintenance mode: avs is not configured"
            );
            return Ok(());
        };
        for evaluation in &due.evaluations {
            let (id, before) = (evaluation.id, status_before(evaluation));
            match avs.get(id).await {
                Ok(found) if found.status == Status::Maintenance && before != found.status => {
                    unless_gone(avs.set_status(id, before).await)?;
                }
                found => unless_gone(found)?,
            }
        }
        Ok(())
    }

    /// Tells the customer that it is over, if the customer was told that it has begun.
    async fn announce(&self, due: &Maintenance) -> Result<(), Error> {
        let (Some(orchestration), Some(spc)) = (due.orchestration, &self.spc) else {
            return Ok(());
        };
        let event = Event {
            orchestration_id: orchestration.to_string(),
            event_type: event_type(&due.kind),
            tenants: vec![Tenant::finished(&due.instance, due.ended_at)],
        };
        match spc.update(&event).await {
            // Another try would be refused too, and would stand in the way of other runtimes.
            Err(error) if !error.kind.is_retryable() => {
                let error = chain(&error);
                tracing::error!(
                    instance.id = due.instance,
                    error,
                    "customer not told, refused by SPC"
                );
                Ok(())
            }
            told => Ok(told?),
        }
    }
}

/// What customers were told that is done.
fn event_type(kind: &str) -> EventType {
    if kind == UpgradingKyma::KIND { UpgradingKyma::EVENT } else { UpgradingCluster::EVENT }
}

/// An evaluation that is gone needs no status.
fn unless_gone<T>(answer: Result<T, CallError>) -> Result<(), CallError> {
    match answer {
        Err(error) if error.kind != Kind::NotFound => Err(error),
        _ => Ok(()),
    }
}
