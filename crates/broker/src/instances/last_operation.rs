//! How far an operation is, in the words of the protocol.

use std::time::Duration;

use domain::OperationId;
use engine::{State, explain, storage::Snapshot};

use super::{
    Broker, Caller, Error,
    describing::{DescriptionContext, describe},
    failures::Reader,
    pairs::{DEPROVISION, PROVISION, UPDATE},
};
use crate::import::ImportNote;

/// The kinds that platforms have asked for; what operators do to an instance is not theirs to follow.
const PLATFORMS: [&str; 3] = [PROVISION, DEPROVISION, UPDATE];

/// Platforms come back after this time when nothing better is known, and never later or sooner than these.
const USUAL: Duration = Duration::from_secs(10);
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(60);

/// The description of an instance whose operations were deleted.
const ARCHIVED: &str = "Operation succeeded. The instance was deprovisioned.";

/// How far an operation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOperation {
    pub progress: Progress,
    /// Its progress or end, for people.
    pub description: String,
    /// When it is worth asking again.
    pub retry_after: Option<Duration>,
    /// Whether the instance can be used after a removal that failed.
    pub instance_usable: Option<bool>,
}

/// The states that platforms know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Not ended.
    InProgress,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
}

impl Progress {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in progress",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}

impl Broker {
    /// How far an operation of an instance is: the named one, or the newest that a platform has asked for. It is answered
    /// after the instance is gone, too.
    pub async fn last_operation(
        &self,
        caller: &Caller,
        instance: &str,
        operation: Option<&str>,
    ) -> Result<LastOperation, Error> {
        let found = match operation {
            Some(named) => self.operation_named(caller, instance, named).await,
            None => {
                let newest = self.newest(instance, Some(&PLATFORMS)).await?;
                self.visible(caller, newest).await?.ok_or_else(|| {
                    Error::NotFound(format!("Operation with instance_id {instance} not exist"))
                })
            }
        };
        match found {
            Ok(found) => Ok(self.answer(&found).await),
            Err(Error::NotFound(missing)) => {
                self.archived(caller, instance).await?.ok_or(Error::NotFound(missing))
            }
            Err(error) => Err(error),
        }
    }

    /// How an instance ended whose operations were deleted when it was archived.
    async fn archived(
        &self,
        caller: &Caller,
        instance: &str,
    ) -> Result<Option<LastOperation>, Error> {
        let found = self.parts().store.find_archived(instance).await?;
        let found = found.filter(|archived| caller.sees(&archived.global_account));
        Ok(found.map(|_| LastOperation {
            progress: Progress::Succeeded,
            description: ARCHIVED.into(),
            retry_after: None,
            instance_usable: None,
        }))
    }

    async fn operation_named(
        &self,
        caller: &Caller,
        instance: &str,
        named: &str,
    ) -> Result<Snapshot, Error> {
        let unknown = || Error::NotFound(format!("Operation with id {named} not exist"));
        let id: OperationId = named.parse().map_err(|_| unknown())?;
        let found = self.snapshot(id.uuid()).await?;
        let found = self.visible(caller, found).await?.ok_or_else(unknown)?;
        if found.instance != instance {
            return Err(Error::Bad("operation exists, but instanceID is invalid".into()));
        }
        Ok(found)
    }

    /// An operation, if the caller may see it: it began for the caller's account, or its instance is that account's now.
    async fn visible(
        &self,
        caller: &Caller,
        found: Option<Snapshot>,
    ) -> Result<Option<Snapshot>, Error> {
        let Some(found) = found else { return Ok(None) };
        let row = match &caller.tenant {
            None => return Ok(Some(found)),
            Some(_) => self.parts().store.find(&found.instance).await?,
        };
        let account = row.as_ref().map_or(&found.lane, |row| &row.global_account);
        Ok(caller.sees(account).then_some(found))
    }

    /// The operation's progress or end, without comparing durations.
    pub(crate) fn description(
        &self,
        operation: &Snapshot,
        imported: Option<&ImportNote>,
        reader: Reader,
    ) -> String {
        let now = self.parts().clock.now();
        let shape = self.0.shapes.get(&operation.kind).map(AsRef::as_ref);
        let explanation = &explain(shape, operation, now);
        let limit = shape.map(|shape| shape.limit);
        let context = DescriptionContext { reader, imported, explanation, limit, usual: None, now };
        describe(operation, &context)
    }

    async fn answer(&self, operation: &Snapshot) -> LastOperation {
        let now = self.parts().clock.now();
        let shape = self.0.shapes.get(&operation.kind).map(AsRef::as_ref);
        let explanation = explain(shape, operation, now);
        let usual = self.usual(operation).await;
        let progress = progress(operation.state);
        let until_next = explanation.next_try.map(|next| next.duration_since(now));
        let wait = until_next.map_or(USUAL, |wait| Duration::try_from(wait).unwrap_or_default());
        // Platforms show this text to their customers, whatever scopes the request has.
        let imported = ImportNote::of(operation);
        let context = DescriptionContext {
            reader: Reader::Customer,
            imported: imported.as_ref(),
            explanation: &explanation,
            limit: shape.map(|shape| shape.limit),
            usual,
            now,
        };
        LastOperation {
            progress,
            description: describe(operation, &context),
            retry_after: (progress == Progress::InProgress).then(|| wait.clamp(SOONEST, LATEST)),
            // What was begun to be removed cannot be relied upon.
            instance_usable: (progress == Progress::Failed && operation.kind == DEPROVISION)
                .then_some(false),
        }
    }
}

/// One that was called off has not done what it was asked to do.
fn progress(state: State) -> Progress {
    match state {
        State::Pending | State::InProgress => Progress::InProgress,
        State::Succeeded => Progress::Succeeded,
        State::Failed | State::Canceled => Progress::Failed,
    }
}
