//! Leftovers of removed instances, and objects that may exist with unknown ids, page by page.

use engine::OperationId;
use jiff::Timestamp;
use serde::Serialize;
use store::broker::{Creation, PageKey};
use uuid::Uuid;

use super::{Broker, Error};
use crate::chores::leftovers::{self, Leftover};

/// Some instances of which something is left, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftoverPage {
    /// The instances.
    pub leftovers: Vec<Leftover>,
    /// The instance to go on behind; none when there are no more.
    pub next: Option<String>,
}

/// Something that may exist outside: a call was made for it, and its result was not stored with an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MayExist {
    /// The call; named to settle it.
    pub id: Uuid,
    /// The system that was called.
    pub system: String,
    /// Its name in that system.
    pub name: String,
    /// Its id there, if the answer came too late to be used.
    pub known_as: Option<String>,
    /// For which instance it was to be.
    pub instance: String,
    /// The operation that called.
    pub operation: OperationId,
    /// When the call was made.
    pub since: Timestamp,
}

/// Some things that may exist, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MayExistPage {
    /// The things, the oldest first.
    pub may_exist: Vec<MayExist>,
    /// The call to go on behind; none when there are no more.
    pub next: Option<Uuid>,
}

impl From<Creation> for MayExist {
    fn from(creation: Creation) -> Self {
        Self {
            id: creation.id,
            system: creation.system,
            name: creation.name,
            known_as: creation.answer,
            instance: creation.instance,
            operation: creation.operation,
            since: creation.began_at,
        }
    }
}

impl Broker {
    /// Objects that may exist in systems that cannot be queried, after the named call.
    pub async fn may_exist(&self, after: Option<Uuid>, most: u32) -> Result<MayExistPage, Error> {
        let mut found = self.parts().store.creations(after, most.saturating_add(1)).await?;
        let more = found.len() > usize::try_from(most).unwrap_or(usize::MAX);
        found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        let next = found.last().map(|last| last.id).filter(|_| more);
        Ok(MayExistPage { may_exist: found.into_iter().map(MayExist::from).collect(), next })
    }

    /// The number of those objects that no operation in progress has called for, counted up to `most`.
    pub async fn may_exist_count(&self, most: u32) -> Result<u64, Error> {
        Ok(self.parts().store.abandoned_creations(most).await?)
    }

    /// Takes an entry off that list: an operator has found that the object does not exist or was removed.
    pub async fn settle(&self, call: Uuid) -> Result<(), Error> {
        if self.parts().store.forget_creation(call).await? {
            return Ok(());
        }
        Err(Error::NotFound(format!("nothing that may exist has the id {call}")))
    }

    /// The instances of which something is left, behind the one that is named.
    pub async fn leftovers(&self, after: Option<&str>, most: u32) -> Result<LeftoverPage, Error> {
        let parts = self.parts();
        let after = match after {
            Some(id) => {
                let unknown = || Error::Bad(format!("names an instance that is gone: {id}"));
                let row = parts.store.find(id).await?.ok_or_else(unknown)?;
                Some(PageKey { created_at: row.created_at, id: row.id })
            }
            None => None,
        };
        let (leftovers, next) =
            leftovers::list(&parts.store, &parts.operations, after, most).await?;
        Ok(LeftoverPage { leftovers, next: next.map(|key| key.id) })
    }

    /// The leftovers of one instance; none when it is there, or all of it is gone.
    pub async fn leftovers_of(&self, instance: &str) -> Result<Option<Leftover>, Error> {
        Ok(leftovers::of(&self.parts().store, &self.parts().operations, instance).await?)
    }
}

impl From<leftovers::Error> for Error {
    fn from(error: leftovers::Error) -> Self {
        match error {
            leftovers::Error::Instances(error) | leftovers::Error::Removals(error) => error.into(),
            leftovers::Error::Operations(error) => error.into(),
        }
    }
}
