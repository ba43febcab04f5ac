//! The owner of a runtime, and access to it.

use clients::gardener::Shoot;
use store::provisioner::{Move, Runtime};
use uuid::Uuid;

use super::{Caller, Provisioner};
use crate::{Error, document::Document, operations::own_shoot::Lookup};

impl Caller {
    /// The tenant, which every call needs.
    pub(super) fn tenant(&self) -> Result<&str, Error> {
        if self.tenant.is_empty() {
            return Err(Error::bad("tenant header is empty"));
        }
        Ok(&self.tenant)
    }

    /// Whether the caller may know of a runtime: it is of its tenant, or it speaks for all of them. To others it looks
    /// as if it did not exist.
    pub(super) fn may_know(&self, runtime: &Runtime) -> Result<bool, Error> {
        let tenant = self.tenant()?;
        Ok(self.any_tenant || runtime.tenant == tenant)
    }
}

/// A runtime, and what is stored about it.
pub(super) struct OwnedRuntime {
    pub(super) row: Runtime,
    pub(super) document: Document,
    /// The tenant that a change moves it to: its account has moved, and the caller speaks for all tenants.
    pub(super) moves_to: Option<String>,
}

impl OwnedRuntime {
    /// The move that a change makes.
    pub(super) fn moves(&self) -> Option<Move<'_>> {
        self.moves_to.as_deref().map(|to| Move { from: &self.row.tenant, to })
    }

    /// Tells auditors of a move that was made.
    pub(super) fn tell_of_move(&self, by: &str) {
        if let Some(Move { from, to }) = self.moves() {
            let runtime = self.row.id;
            tracing::warn!(runtime.id = %runtime, tenant.from = from, tenant.to = to, by, "a runtime moved to another tenant");
        }
    }
}

impl Provisioner {
    /// The caller's runtime.
    pub(super) async fn owned(&self, caller: &Caller, id: &str) -> Result<OwnedRuntime, Error> {
        caller.tenant()?;
        let id = uuid(id, "runtime")?;
        let missing = || Error::not_found(format!("Cannot find Tenant for runtimeID:'{id}"));
        let row = self.0.store.find(id).await?.ok_or_else(missing)?;
        if !caller.may_know(&row)? {
            return Err(missing());
        }
        let document = Document::read(&row.document)
            .map_err(|error| Error::internal(format!("runtime {id} cannot be read: {error}")))?;
        let moves_to = Some(caller.tenant.clone()).filter(|tenant| *tenant != row.tenant);
        Ok(OwnedRuntime { row, document, moves_to })
    }

    /// Whether a runtime is there and can be changed. One whose cluster was made can, also when something after
    /// that failed.
    pub(super) async fn check_changeable(&self, row: &Runtime) -> Result<(), Error> {
        let id = row.id;
        if row.deleted_at.is_some() {
            return Err(Error::bad(format!("Runtime {id} is deprovisioned")));
        }
        let made = row.provisioned_at.is_some() || row.kubeconfig.is_some();
        if !made && !self.is_busy(row).await? {
            return Err(Error::bad(format!(
                "Runtime {id} was not provisioned successfully: it can only be deprovisioned"
            )));
        }
        Ok(())
    }

    /// The runtime's Shoot, if it can be changed. That there is none is for the operation to find out.
    pub(super) async fn changeable_shoot(&self, row: &Runtime) -> Result<Option<Shoot>, Error> {
        let (id, name) = (row.id, &row.shoot);
        match self.0.env.look_up(id, name, row.shoot_uid.as_deref()).await? {
            Lookup::Missing => Ok(None),
            Lookup::Foreign(foreign) => {
                Err(Error::bad(format!("Runtime {id} cannot be changed: {}", foreign.text())))
            }
            Lookup::Own(shoot) if shoot.is_going() => Err(Error::bad(format!(
                "Runtime {id} cannot be changed: its Shoot {name} is being deleted"
            ))),
            Lookup::Own(shoot) => Ok(Some(*shoot)),
        }
    }

    /// The same for what needs a cluster that runs.
    pub(super) async fn awake_shoot(&self, row: &Runtime) -> Result<Option<Shoot>, Error> {
        let shoot = self.changeable_shoot(row).await?;
        if shoot.as_ref().is_some_and(Shoot::is_asleep) {
            return Err(Error::bad(format!(
                "Runtime {} is hibernated: wake its Shoot {} up first",
                row.id, row.shoot
            )));
        }
        Ok(shoot)
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
