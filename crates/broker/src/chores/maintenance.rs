//! Ends the maintenance that upgrades have begun: evaluations get the status back that they had, customers are notified that it is over.
//!
//! What a reader would get wrong: every upgrade is ended here and nowhere else, whether it succeeded, failed, was stopped, never began or
//! died with its replica. Every replica does it; each maintenance is taken with one statement, so that one replica gets it. The maintenance of
//! an orchestration's driver is what the orchestration could not announce at its end.

use std::time::Duration;

use base::{Clock, failure::chain};
use clients::{
    Error as CallError, Kind,
    avs::{Avs, Status},
    spc::{Event, EventType, Spc, Tenant},
};
use domain::orchestration::State;
use engine::Operation;
use futures::{StreamExt, stream};
use store::{
    BrokerStore,
    broker::{Maintenance, MaintenancePart, SuspendedEvaluation},
};

use crate::{
    operations::{
        Env,
        orchestration::Orchestrating,
        shared::upgrading::{Upgrading, avs_maintenance::status_before},
        upgrade_cluster::UpgradingCluster,
        upgrade_kyma::UpgradingKyma,
    },
    orchestrations::{is_announced, left_out, parameters},
};

/// How many are ended in one go, and how many of them at once.
const MOST: u32 = 200;
const AT_ONCE: usize = 8;
/// How often a hold is renewed before it would be over: the database may be away for a few of them.
const RENEWALS: u32 = 5;

/// Intervals and limits that are not configurable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The interval between two checks.
    pub every: Duration,
    /// For how long a maintenance is one replica's unless it says so again: when a replica dies, another one ends it after this.
    pub hold: Duration,
    /// How long after a failure it is tried again.
    pub again: Duration,
    /// For how long what `AvS` refuses is tried again. Shorter than the next upgrade waits for it.
    pub refused: Duration,
    /// Until how long after the end it is tried to notify a customer of it; once, where its evaluations took longer.
    pub announced: Duration,
    /// How long a call of an upgrade that did not end well may still be on its way.
    pub settled: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(5),
            hold: Duration::from_secs(15),
            again: Duration::from_mins(2),
            refused: Duration::from_mins(15),
            announced: Duration::from_hours(24),
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
    #[error("{failed} of {all} evaluations stay in maintenance mode for now")]
    Evaluations {
        failed: usize,
        all: usize,
        #[source]
        first: CallError,
    },
    #[error("it is ended, or another replica ends it")]
    Lost,
}

/// Goes on until it is dropped. Evaluations do not wait for SPC, customers not for `AvS`.
pub async fn keep(ending: MaintenanceEnding) {
    let parts = [MaintenancePart::Evaluations, MaintenancePart::Announcement];
    futures::future::join_all(parts.map(|part| ending.keep_ending(part))).await;
}

/// What customers are notified of.
enum Notice {
    /// How far runtimes are.
    Update(Event),
    /// The whole announcement of an orchestration is taken back.
    Cancel(String),
}

impl MaintenanceEnding {
    /// With the clients that steps have.
    pub fn new(env: &Env, clock: Clock, times: Times) -> Self {
        Self { store: env.store.clone(), avs: env.avs.clone(), spc: env.spc.clone(), clock, times }
    }

    async fn keep_ending(&self, part: MaintenancePart) {
        loop {
            if let Err(error) = self.end_part(part).await {
                tracing::warn!(error = chain(&error), "cannot end maintenance, trying again later");
            }
            self.clock.sleep(self.times.every).await;
        }
    }

    /// Ends the maintenance of upgrades that have ended, at most of some; of how many it did.
    pub async fn end_due(&self) -> Result<usize, store::Error> {
        self.end_part(MaintenancePart::Evaluations).await?;
        self.end_part(MaintenancePart::Announcement).await
    }

    /// Restores evaluations of upgrades that have ended, or notifies customers of the ends of those that have none; of how many.
    async fn end_part(&self, part: MaintenancePart) -> Result<usize, store::Error> {
        let due = self.store.due_maintenances(part, self.times.settled, MOST).await?;
        let ends = stream::iter(due).map(|due| self.try_to_end(part, due));
        let ended = ends.buffer_unordered(AT_ONCE).filter(|ended| std::future::ready(*ended));
        Ok(ended.count().await)
    }

    /// Does a part of the end of one. `false`: that could not be done, or another replica has it.
    async fn try_to_end(&self, part: MaintenancePart, due: Maintenance) -> bool {
        let Some(mut taken) = self.take(&due).await else { return false };
        let due = taken.clone();
        let end = async {
            match part {
                MaintenancePart::Evaluations => self.restore_all(&due).await,
                MaintenancePart::Announcement => self.announce_and_forget(&due).await,
            }
        };
        self.while_held(&mut taken, end).await
    }

    /// Takes one for some time.
    async fn take(&self, due: &Maintenance) -> Option<Maintenance> {
        match self.store.take_maintenance(due, self.times.hold).await {
            Ok(taken) => taken,
            Err(error) => {
                tracing::warn!(error = chain(&error), "cannot end maintenance, trying again later");
                None
            }
        }
    }

    /// Does a part of an end. Its calls may take longer than the hold. One that another replica has got meanwhile is left to it.
    async fn while_held(
        &self,
        taken: &mut Maintenance,
        part: impl Future<Output = Result<(), Error>>,
    ) -> bool {
        // A renewal that waits for the database does not stop the calls.
        let ended = tokio::select! {
            biased;
            ended = part => ended,
            lost = self.renew(taken) => Err(lost),
        };
        let Err(error) = ended else { return true };
        tracing::warn!(
            instance.id = taken.instance,
            operation.id = %taken.operation,
            error = chain(&error),
            "maintenance of a runtime cannot be ended, trying again later"
        );
        // One that is not given back is tried again when the hold is over.
        if let Err(error) = self.store.take_maintenance(taken, self.times.again).await {
            tracing::debug!(error = chain(&error), "maintenance not given back");
        }
        false
    }

    /// Renews a hold until another replica has it. The hold outlives a renewal that fails: the next one follows in time.
    async fn renew(&self, taken: &mut Maintenance) -> Error {
        loop {
            self.clock.sleep(self.times.hold / RENEWALS).await;
            match self.store.take_maintenance(taken, self.times.hold).await {
                Ok(Some(held)) => *taken = held,
                Ok(None) => return Error::Lost,
                Err(error) => tracing::warn!(
                    instance.id = taken.instance,
                    operation.id = %taken.operation,
                    error = chain(&error),
                    "hold of a maintenance not renewed, trying again"
                ),
            }
        }
    }

    async fn restore_all(&self, due: &Maintenance) -> Result<(), Error> {
        self.restore(due).await?;
        Ok(self.store.restored_evaluations(due.operation).await?)
    }

    /// Customers are notified of the end once the evaluations are restored.
    async fn announce_and_forget(&self, due: &Maintenance) -> Result<(), Error> {
        self.announce(due).await?;
        Ok(self.store.forget_maintenance(due.operation).await?)
    }

    /// Restores the former status of evaluations. Those that were changed or removed meanwhile are left alone, and one that cannot be
    /// restored does not stop the others.
    async fn restore(&self, due: &Maintenance) -> Result<(), Error> {
        let Some(avs) = &self.avs else {
            tracing::warn!(
                instance.id = due.instance,
                "evaluations stay in maintenance mode: avs is not configured"
            );
            return Ok(());
        };
        let (mut failed, all) = (Vec::new(), due.evaluations.len());
        for evaluation in &due.evaluations {
            match restore_one(avs, evaluation).await {
                Ok(()) => {}
                Err(error) if !error.kind.is_retryable() && self.gives_up(due) => {
                    tracing::error!(
                        instance.id = due.instance,
                        evaluation.id = evaluation.id,
                        error = chain(&error),
                        "evaluation stays in maintenance mode, refused by AvS"
                    );
                }
                Err(error) => failed.push(error),
            }
        }
        let count = failed.len();
        match failed.into_iter().next() {
            Some(first) => Err(Error::Evaluations { failed: count, all, first }),
            None => Ok(()),
        }
    }

    /// Whether what is refused is not tried again: it would keep the runtime from its next upgrade.
    fn gives_up(&self, due: &Maintenance) -> bool {
        self.clock.now() >= due.ended_at + self.times.refused
    }

    /// Notifies the customer of the end, if the maintenance was announced.
    async fn announce(&self, due: &Maintenance) -> Result<(), Error> {
        let Some(spc) = &self.spc else { return Ok(()) };
        let sent = match self.notice(due).await? {
            None => return Ok(()),
            Some(Notice::Update(event)) => spc.update(&event).await,
            Some(Notice::Cancel(orchestration)) => spc.cancel(&orchestration).await,
        };
        let too_late = self.clock.now() >= due.ended_at + self.times.announced;
        match sent {
            // Another try would be refused too, and would stand in the way of other runtimes.
            Err(error) if !error.kind.is_retryable() || too_late => {
                let why = if too_late { "given up" } else { "refused by SPC" };
                let error = chain(&error);
                tracing::error!(instance.id = due.instance, error, "customer not notified, {why}");
                Ok(())
            }
            sent => Ok(sent?),
        }
    }

    /// What the customer is notified of; nothing without an announcement.
    async fn notice(&self, due: &Maintenance) -> Result<Option<Notice>, Error> {
        if due.kind == Orchestrating::KIND {
            return self.notice_of_orchestration(due).await;
        }
        let Some(orchestration) = due.orchestration else { return Ok(None) };
        let tenant = match (due.left_out, due.called_off) {
            // The orchestration takes its whole announcement back.
            (true, true) => return Ok(None),
            (true, false) => Tenant::cancelled(&due.instance),
            (false, _) => Tenant::finished(&due.instance, due.ended_at),
        };
        Ok(Some(Notice::Update(Event {
            orchestration_id: orchestration.to_string(),
            event_type: event_type(&due.kind),
            tenants: vec![tenant],
        })))
    }

    /// What an orchestration has not announced at its end.
    async fn notice_of_orchestration(&self, due: &Maintenance) -> Result<Option<Notice>, Error> {
        let Ok(id) = due.instance.parse() else { return Ok(None) };
        let Some(row) = self.store.orchestration(id).await? else { return Ok(None) };
        match parameters(&row) {
            Ok(asked) if !is_announced(&asked) => Ok(None),
            Ok(_) if row.state == State::Canceled.as_str() => {
                Ok(Some(Notice::Cancel(row.id.to_string())))
            }
            Ok(_) => Ok(left_out(&self.store, &row).await?.map(Notice::Update)),
            Err(error) => {
                tracing::error!(orchestration = %id, %error, "parameters unreadable, customers not notified");
                Ok(None)
            }
        }
    }
}

/// The event type that customers were notified of.
fn event_type(kind: &str) -> EventType {
    if kind == UpgradingKyma::KIND { UpgradingKyma::EVENT } else { UpgradingCluster::EVENT }
}

/// Gives an evaluation the status back that it had, unless its status was changed meanwhile.
async fn restore_one(avs: &Avs, evaluation: &SuspendedEvaluation) -> Result<(), CallError> {
    let (id, before) = (evaluation.id, status_before(evaluation));
    match avs.get(id).await {
        Ok(found) if found.status == Status::Maintenance && before != found.status => {
            unless_gone(avs.set_status(id, before).await)
        }
        found => unless_gone(found),
    }
}

/// An evaluation that is gone needs no status.
fn unless_gone<T>(answer: Result<T, CallError>) -> Result<(), CallError> {
    match answer {
        Err(error) if error.kind != Kind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_outlives_renewals_that_fail_and_a_dead_replica_by_seconds() {
        let Times { hold, .. } = Times::default();

        assert!(hold <= Duration::from_secs(15));
        // Three renewals in a row may fail.
        assert!(hold / RENEWALS * 4 < hold);
    }

    #[test]
    fn the_next_upgrade_waits_longer_than_a_refused_evaluation_is_tried_again() {
        let times = Times::default();

        // The next upgrade waits for half an hour.
        assert!(times.refused + times.again + times.settled < Duration::from_mins(30));
    }
}
