//! A runtime as it is stored, and as it is read.

use std::fmt;

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{Error, Moment, SealLocation, Sealer};

/// A cluster we look after.
#[derive(Clone)]
pub struct Runtime {
    /// Its id, which is also the instance of its operations.
    pub id: Uuid,
    /// The tenant.
    pub tenant: String,
    /// Under which tenant the Director has it, when it has moved to another one since.
    pub registered_tenant: Option<String>,
    /// The subaccount it was ordered for; may be empty.
    pub subaccount: String,
    /// The name of its Shoot, unique among runtimes that are not deleted.
    pub shoot: String,
    /// Gardener's uid of the Shoot that was made for it, once it is known.
    pub shoot_uid: Option<String>,
    /// Its configuration; sealed at rest.
    pub document: Vec<u8>,
    /// Its kubeconfig, once there is one.
    pub kubeconfig: Option<Kubeconfig>,
    /// Counts the changes, from 1.
    pub revision: i64,
    /// When it was there for the first time.
    pub provisioned_at: Option<Timestamp>,
    /// When it was gone.
    pub deleted_at: Option<Timestamp>,
    /// When it was accepted.
    pub created_at: Timestamp,
}

/// The configuration may carry secrets, so it is not printed.
impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("registered_tenant", &self.registered_tenant)
            .field("subaccount", &self.subaccount)
            .field("shoot", &self.shoot)
            .field("shoot_uid", &self.shoot_uid)
            .field("kubeconfig", &self.kubeconfig)
            .field("revision", &self.revision)
            .field("provisioned_at", &self.provisioned_at)
            .field("deleted_at", &self.deleted_at)
            .field("created_at", &self.created_at)
            .finish_non_exhaustive()
    }
}

/// A cluster's kubeconfig, valid for a while; sealed at rest.
#[derive(Debug, Clone)]
pub struct Kubeconfig {
    /// The file's text.
    pub text: SecretString,
    /// Until when it is valid.
    pub until: Timestamp,
}

/// A runtime to be accepted.
#[derive(Clone)]
pub struct NewRuntime {
    /// Its id; not nil.
    pub id: Uuid,
    /// The tenant; not empty.
    pub tenant: String,
    /// The subaccount it was ordered for; may be empty.
    pub subaccount: String,
    /// The name of its Shoot; not empty.
    pub shoot: String,
    /// Its configuration.
    pub document: Vec<u8>,
}

/// The configuration may carry secrets, so it is not printed.
impl fmt::Debug for NewRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewRuntime")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("subaccount", &self.subaccount)
            .field("shoot", &self.shoot)
            .finish_non_exhaustive()
    }
}

/// The columns of [`Row`].
macro_rules! columns {
    () => {
        "id, tenant, registered_tenant, subaccount, shoot, shoot_uid, document, kubeconfig, kubeconfig_until,
         revision, provisioned_at, deleted_at, created_at"
    };
}
pub(super) use columns;

/// One row of `runtimes`.
#[derive(sqlx_macros::FromRow)]
pub(super) struct Row {
    id: Uuid,
    tenant: String,
    registered_tenant: Option<String>,
    subaccount: String,
    shoot: String,
    shoot_uid: Option<String>,
    document: Vec<u8>,
    kubeconfig: Option<Vec<u8>>,
    kubeconfig_until: Option<Moment>,
    revision: i64,
    provisioned_at: Option<Moment>,
    deleted_at: Option<Moment>,
    created_at: Moment,
}

impl Row {
    /// The runtime, with what is sealed opened.
    pub(super) fn open(self, sealer: &Sealer) -> Result<Runtime, Error> {
        let row = self.id.to_string();
        let kubeconfig = match (self.kubeconfig, self.kubeconfig_until) {
            (Some(sealed), Some(until)) => {
                let text = sealer.open(SealLocation { row: &row, ..KUBECONFIG }, &sealed)?;
                let text = String::from_utf8(text)
                    .map_err(|_| Error::Unreadable("a kubeconfig that is not text".into()))?;
                Some(Kubeconfig { text: text.into(), until: until.into() })
            }
            _ => None,
        };
        Ok(Runtime {
            document: sealer.open(SealLocation { row: &row, ..DOCUMENT }, &self.document)?,
            id: self.id,
            tenant: self.tenant,
            registered_tenant: self.registered_tenant,
            subaccount: self.subaccount,
            shoot: self.shoot,
            shoot_uid: self.shoot_uid,
            kubeconfig,
            revision: self.revision,
            provisioned_at: self.provisioned_at.map(Into::into),
            deleted_at: self.deleted_at.map(Into::into),
            created_at: self.created_at.into(),
        })
    }
}

/// Seals a runtime's configuration.
pub(super) fn seal_document(sealer: &Sealer, runtime: Uuid, document: &[u8]) -> Vec<u8> {
    sealer.seal(SealLocation { row: &runtime.to_string(), ..DOCUMENT }, document)
}

/// Seals the text of a runtime's kubeconfig.
pub(super) fn seal_kubeconfig(sealer: &Sealer, runtime: Uuid, kubeconfig: &Kubeconfig) -> Vec<u8> {
    let text = kubeconfig.text.expose_secret().as_bytes();
    sealer.seal(SealLocation { row: &runtime.to_string(), ..KUBECONFIG }, text)
}

const DOCUMENT: SealLocation<'static> =
    SealLocation { table: "runtimes", column: "document", row: "" };
const KUBECONFIG: SealLocation<'static> =
    SealLocation { table: "runtimes", column: "kubeconfig", row: "" };
