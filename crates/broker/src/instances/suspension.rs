//! Suspension, return and expiry: an instance loses its cluster for a time, or for good, and keeps everything else.
//!
//! What a reader would get wrong: nothing says of an instance whether it is suspended. Its operations do: the newest of
//! those that make and remove clusters, whether it has ended or not, is the last request.

use domain::OperationId;
use engine::{
    State,
    storage::{Acceptance, NewOperation, Snapshot, Verdict},
};
use store::{
    RowAcceptance,
    broker::{AcceptedChange, Instance},
};
use uuid::Uuid;

use super::{
    Broker, Caller, Error,
    pairs::{self, DEPROVISION, PROVISION},
    stored::{self, StoredInput},
};
use crate::{ContextChange, operations::deprovisioning::left_nothing};

/// How often it begins again after a concurrent change of the instance.
const TRIES: usize = 20;
/// The operations that make and remove clusters.
const KINDS: [&str; 2] = [PROVISION, DEPROVISION];

pub(super) const EXPIRED: &str = "cannot update an expired instance";
pub(super) const DEPROVISIONED: &str = "Unable to process an update of a deprovisioned instance";
pub(super) const FAILED: &str = "Unable to process an update of a failed instance";

/// Where its operations lead an instance.
pub(crate) enum Course {
    /// It has a cluster, or gets one.
    Made(Snapshot),
    /// Its cluster is gone for a time, or goes.
    Suspended(Snapshot),
    /// It is gone, or goes.
    Removed(Snapshot),
}

/// How an instance loses its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sleep<'a> {
    /// It is suspended, whatever its plan is.
    OfAnyPlan,
    /// It is suspended because instances of this plan are: not when its plan has changed since.
    OfPlan(&'a str),
    /// It expires, and never comes back.
    Expiry,
}

impl Broker {
    /// Suspends an instance, unless it is suspended or on the way there. Gives the operation that does, or did.
    pub async fn suspend(&self, caller: &Caller, instance: &str) -> Result<OperationId, Error> {
        self.put_to_sleep(caller, instance, Sleep::OfAnyPlan, &ContextChange::default()).await
    }

    /// Expires an instance: it is suspended, and never comes back.
    pub async fn expire(&self, caller: &Caller, instance: &str) -> Result<OperationId, Error> {
        self.expire_with(caller, instance, &ContextChange::default()).await
    }

    /// The same, with what the context says beside it.
    pub(super) async fn expire_with(
        &self,
        caller: &Caller,
        instance: &str,
        context: &ContextChange,
    ) -> Result<OperationId, Error> {
        self.put_to_sleep(caller, instance, Sleep::Expiry, context).await
    }

    /// Refuses the expiry of an instance whose plan has none.
    fn check_expiring(&self, row: &Instance) -> Result<(), Error> {
        if self.parts().settings.suspension.expiring.contains(&row.plan_name) {
            return Ok(());
        }
        Err(Error::Bad(format!("unsupported plan: {}", row.plan_name)))
    }

    /// Brings a suspended instance back: a new cluster under its old names. Gives the operation that does; none when
    /// it has its cluster.
    pub async fn unsuspend(
        &self,
        caller: &Caller,
        instance: &str,
    ) -> Result<Option<OperationId>, Error> {
        self.bring_back(caller, instance, &ContextChange::default()).await
    }

    /// The same, with what the context says beside it: it is stored when the return is accepted, or nothing has to be done.
    pub(super) async fn bring_back(
        &self,
        caller: &Caller,
        instance: &str,
        context: &ContextChange,
    ) -> Result<Option<OperationId>, Error> {
        for _ in 0..TRIES {
            let row = self.owned(caller, instance).await?;
            if row.expired_at.is_some() {
                return Err(Error::Bad(EXPIRED.into()));
            }
            let begun = match self.course(&row.id).await? {
                Some(Course::Made(made)) if stands(&made) => {
                    self.store_context(&row.id, context).await?;
                    return Ok(None);
                }
                Some(Course::Made(made)) if !stored::is_unsuspension(&made)? => {
                    return Err(Error::Unchangeable(FAILED.into()));
                }
                Some(Course::Removed(_)) | None => {
                    return Err(Error::Unchangeable(DEPROVISIONED.into()));
                }
                Some(Course::Suspended(gone)) if stands(&gone) => {
                    self.accept_return(caller, &row, context).await?
                }
                // What is left of the last cluster goes first; then it is looked again.
                Some(Course::Made(_) | Course::Suspended(_)) => {
                    let nothing = ContextChange::default();
                    self.accept_suspension(caller, &row, Sleep::OfAnyPlan, &nothing).await?;
                    None
                }
            };
            if let Some(operation) = begun {
                return Ok(Some(operation.into()));
            }
        }
        Err(Error::Busy)
    }

    /// Suspends an instance, or expires it. What the context says is stored when the suspension is accepted, or has been before.
    pub(super) async fn put_to_sleep(
        &self,
        caller: &Caller,
        instance: &str,
        sleep: Sleep<'_>,
        context: &ContextChange,
    ) -> Result<OperationId, Error> {
        let expires = sleep == Sleep::Expiry;
        for _ in 0..TRIES {
            let row = self.owned(caller, instance).await?;
            match sleep {
                Sleep::Expiry => self.check_expiring(&row)?,
                Sleep::OfPlan(plan) if row.plan_id != plan => return Err(Error::Busy),
                Sleep::OfPlan(_) | Sleep::OfAnyPlan => {}
            }
            let asleep = match self.course(&row.id).await? {
                Some(Course::Removed(removal)) if expires => Some(removal.id),
                Some(Course::Removed(_)) => return Err(Error::Unchangeable(DEPROVISIONED.into())),
                Some(Course::Suspended(gone)) if stands(&gone) => Some(gone.id),
                _ => None,
            };
            match asleep {
                // Once that is stored, no return is accepted any more; one that came before is seen in the next round.
                Some(_) if expires && row.expired_at.is_none() => {
                    self.parts().store.mark_expired(&row.id).await?;
                }
                Some(operation) => {
                    self.store_context(&row.id, context).await?;
                    return Ok(operation.into());
                }
                None => {
                    let begun = self.accept_suspension(caller, &row, sleep, context).await?;
                    if let Some(begun) = begun {
                        return Ok(begun.into());
                    }
                }
            }
        }
        Err(Error::Busy)
    }

    /// `None`: the instance was changed meanwhile, look again.
    async fn accept_suspension(
        &self,
        caller: &Caller,
        row: &Instance,
        sleep: Sleep<'_>,
        context: &ContextChange,
    ) -> Result<Option<Uuid>, Error> {
        let expires = sleep == Sleep::Expiry;
        let id = OperationId::new().uuid();
        let changed = self.under_context(row, context)?;
        let asked = StoredInput::by(caller, changed.order.clone());
        let operation = stored::suspension(id, asked)?;
        let pairs = |unfinished: &[_]| pairs::suspension(id, unfinished);
        // The instance has the plan that was judged: a change of the plan may have ended since.
        let any_plan = sleep == Sleep::OfAnyPlan;
        let change = if any_plan { changed.change() } else { changed.on_revision() };
        let change = AcceptedChange { expires, ..change };
        let store = &self.parts().store;
        let accepted = store.accept_changing(&row.id, row.revision, operation, &pairs, change);
        let accepted = accepted.await?;
        // The one that is under way was accepted without what is said now.
        if matches!(accepted, RowAcceptance::Yes(Acceptance::Same(_))) {
            if expires {
                store.mark_expired(&row.id).await?;
                return Ok(None);
            }
            self.store_context(&row.id, context).await?;
        }
        answer(accepted, id)
    }

    /// `None`: the instance was changed meanwhile, look again.
    async fn accept_return(
        &self,
        caller: &Caller,
        row: &Instance,
        context: &ContextChange,
    ) -> Result<Option<Uuid>, Error> {
        let id = OperationId::new().uuid();
        let changed = self.for_next_cluster(row, context)?;
        let asked = StoredInput::by(caller, changed.order.clone());
        let operation: NewOperation = stored::unsuspension(id, asked)?;
        let pairs = |unfinished: &[_]| -> Verdict { pairs::unsuspension(id, unfinished) };
        // With the order as it was read: neither an update nor an expiry has come in between.
        let change = changed.on_revision();
        let store = &self.parts().store;
        let accepted = store.accept_changing(&row.id, row.revision, operation, &pairs, change);
        let accepted = accepted.await?;
        if matches!(accepted, RowAcceptance::Yes(Acceptance::Same(_))) {
            self.store_context(&row.id, context).await?;
        }
        answer(accepted, id)
    }

    /// Where its operations lead an instance. One that was stopped before it began leads nowhere.
    pub(crate) async fn course(&self, instance: &str) -> Result<Option<Course>, Error> {
        let Some(newest) = self.newest_effective(instance, &KINDS).await? else { return Ok(None) };
        Ok(Some(if newest.kind == PROVISION {
            Course::Made(newest)
        } else if stored::is_suspension(&newest)? {
            Course::Suspended(newest)
        } else {
            Course::Removed(newest)
        }))
    }

    /// An instance that is there for the caller.
    async fn owned(&self, caller: &Caller, instance: &str) -> Result<Instance, Error> {
        let there = self.parts().store.find(instance).await?;
        there.filter(|row| caller.sees(&row.global_account)).ok_or_else(|| {
            Error::NotFound(format!("Cannot find Instance for instanceID:'{instance}'"))
        })
    }
}

/// Whether an operation has done what it was asked to do, or is about to.
pub(super) fn stands(operation: &Snapshot) -> bool {
    match operation.state {
        State::Pending | State::InProgress => operation.cancel.is_none(),
        State::Succeeded => operation.kind == PROVISION || left_nothing(operation),
        State::Failed | State::Canceled => false,
    }
}

fn answer(accepted: RowAcceptance, id: Uuid) -> Result<Option<Uuid>, Error> {
    match accepted {
        RowAcceptance::Yes(Acceptance::Started | Acceptance::Queued) => Ok(Some(id)),
        RowAcceptance::Yes(Acceptance::Same(other)) => Ok(Some(other)),
        RowAcceptance::Yes(Acceptance::Refused(_)) => Err(Error::Busy),
        RowAcceptance::Changed => Ok(None),
        RowAcceptance::Gone => Err(Error::Unchangeable(DEPROVISIONED.into())),
    }
}
