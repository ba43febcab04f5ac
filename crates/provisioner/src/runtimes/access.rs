//! Whose runtime it is, and what may be done with it.

use store::provisioner::Runtime;
use uuid::Uuid;

use super::{Caller, Provisioner};
use crate::{Error, document::Document};

impl Caller {
    /// The tenant, which every call needs.
    pub(super) fn tenant(&self) -> Result<&str, Error> {
        if self.tenant.is_empty() {
            return Err(Error::bad("tenant header is empty"));
        }
        Ok(&self.tenant)
    }

    /// Whether a runtime is the caller's.
    pub(super) fn check(&self, runtime: &Runtime) -> Result<(), Error> {
        if runtime.tenant != self.tenant()? {
            let text = "provided tenant does not match tenant used to provision cluster";
            return Err(Error::bad(text));
        }
        let named = self.subaccount.as_deref().filter(|named| !named.is_empty());
        if named.is_some_and(|named| !runtime.subaccount.is_empty() && named != runtime.subaccount)
        {
            let text = "provided sub-account does not match sub-account used to provision cluster";
            return Err(Error::bad(text));
        }
        Ok(())
    }
}

/// A runtime, and what is stored about it.
pub(super) struct Owned {
    pub(super) row: Runtime,
    pub(super) document: Document,
}

impl Provisioner {
    /// The caller's runtime.
    pub(super) async fn owned(&self, caller: &Caller, id: &str) -> Result<Owned, Error> {
        caller.tenant()?;
        let id = uuid(id, "runtime")?;
        let Some(row) = self.0.store.find(id).await? else {
            return Err(Error::not_found(format!("Cannot find Tenant for runtimeID:'{id}")));
        };
        caller.check(&row)?;
        let document = Document::read(&row.document)
            .map_err(|error| Error::internal(format!("runtime {id} cannot be read: {error}")))?;
        Ok(Owned { row, document })
    }

    /// The caller's runtime, if it is there and can be changed.
    pub(super) async fn changeable(&self, caller: &Caller, id: &str) -> Result<Owned, Error> {
        let owned = self.owned(caller, id).await?;
        if owned.row.deleted_at.is_some() {
            return Err(Error::bad(format!("Runtime {id} is deprovisioned")));
        }
        if owned.row.provisioned_at.is_none() && !self.is_busy(&owned.row).await? {
            return Err(Error::bad(format!(
                "Runtime {id} was not provisioned successfully: it can only be deprovisioned"
            )));
        }
        Ok(owned)
    }

    /// Whether an operation is unfinished; what it is in the way of is refused later, in its own words.
    async fn is_busy(&self, runtime: &Runtime) -> Result<bool, Error> {
        let Some(last) = self.0.store.last_operation(runtime.id).await? else { return Ok(false) };
        let found = self.snapshot(last).await?;
        Ok(found.is_some_and(|snapshot| !snapshot.state.is_final()))
    }
}

/// An id as the database has it. The code is the reference's: it asks the database.
pub(super) fn uuid(text: &str, what: &str) -> Result<Uuid, Error> {
    Uuid::try_parse(text)
        .map_err(|_| Error::database(format!("Failed to get {what}: \"{text}\" is not a UUID")))
}
