//! An instance as it is stored, and as it is read.

use std::fmt;

use jiff::Timestamp;
use uuid::Uuid;

use super::Standing;
use crate::{Error, Moment, SealLocation, Sealer};

/// How long an id, an account and the other words may be that instances are found by, in bytes.
pub const LONGEST: usize = 255;

/// An ordered instance.
#[derive(Clone)]
pub struct Instance {
    /// Its id, as the platform calls it; also the instance of its operations.
    pub id: String,
    /// The global account: whose it is.
    pub global_account: String,
    /// The subaccount.
    pub subaccount: String,
    /// The service.
    pub service_id: String,
    /// The service plan.
    pub plan_id: String,
    /// The service plan's name.
    pub plan_name: String,
    /// The provider of its cluster; empty before it is known.
    pub provider: String,
    /// The provider's region; empty before it is known.
    pub region: String,
    /// The region of the platform; may be empty.
    pub platform_region: String,
    /// The name of its Shoot.
    pub shoot_name: String,
    /// Its cluster, while there is one.
    pub runtime_id: Option<Uuid>,
    /// Where its owner manages the cluster.
    pub dashboard_url: String,
    /// The order; sealed at rest.
    pub order: Vec<u8>,
    /// The details from the last finished operation; empty when there is none; sealed at rest.
    pub details: Vec<u8>,
    /// Counts the changes, from 1.
    pub revision: i64,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was removed, with something left over.
    pub deleted_at: Option<Timestamp>,
    /// When it expired.
    pub expired_at: Option<Timestamp>,
    /// How it stands.
    pub standing: Standing,
}

/// Order and details carry secrets, so they are not printed.
impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("id", &self.id)
            .field("global_account", &self.global_account)
            .field("subaccount", &self.subaccount)
            .field("plan_name", &self.plan_name)
            .field("region", &self.region)
            .field("shoot_name", &self.shoot_name)
            .field("runtime_id", &self.runtime_id)
            .field("revision", &self.revision)
            .field("created_at", &self.created_at)
            .field("deleted_at", &self.deleted_at)
            .field("expired_at", &self.expired_at)
            .finish_non_exhaustive()
    }
}

/// An instance to be accepted.
#[derive(Clone)]
pub struct NewInstance {
    /// Its id: any text of at most [`LONGEST`] bytes, not empty.
    pub id: String,
    /// The global account; not empty.
    pub global_account: String,
    /// The subaccount.
    pub subaccount: String,
    /// The service.
    pub service_id: String,
    /// The service plan.
    pub plan_id: String,
    /// The service plan's name.
    pub plan_name: String,
    /// The provider of its cluster; empty before it is known.
    pub provider: String,
    /// The provider's region; empty before it is known.
    pub region: String,
    /// The region of the platform; may be empty.
    pub platform_region: String,
    /// The name of its Shoot.
    pub shoot_name: String,
    /// Where its owner manages the cluster.
    pub dashboard_url: String,
    /// The order.
    pub order: Vec<u8>,
    /// Its details, if known already.
    pub details: Option<Vec<u8>>,
}

/// Order and details carry secrets, so they are not printed.
impl fmt::Debug for NewInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewInstance")
            .field("id", &self.id)
            .field("global_account", &self.global_account)
            .field("subaccount", &self.subaccount)
            .field("plan_name", &self.plan_name)
            .field("region", &self.region)
            .field("shoot_name", &self.shoot_name)
            .finish_non_exhaustive()
    }
}

impl NewInstance {
    /// Refuses what the databases would not keep, or not alike; names the field.
    pub fn check(&self) -> Result<(), Error> {
        let refused = |field, why| Err(Error::Refused(format!("an instance's {field} {why}")));
        for (field, text) in [("id", &self.id), ("global account", &self.global_account)] {
            if text.is_empty() {
                return refused(field, "is empty");
            }
        }
        let found_by = [
            ("id", &self.id),
            ("global account", &self.global_account),
            ("subaccount", &self.subaccount),
            ("plan", &self.plan_id),
            ("plan's name", &self.plan_name),
            ("region", &self.region),
            ("Shoot", &self.shoot_name),
        ];
        let others = [
            ("service", &self.service_id),
            ("provider", &self.provider),
            ("platform region", &self.platform_region),
            ("dashboard URL", &self.dashboard_url),
        ];
        if let Some((field, _)) = found_by.iter().find(|(_, text)| text.len() > LONGEST) {
            return refused(field, "is too long");
        }
        let mut all = found_by.iter().chain(&others);
        if let Some((field, _)) = all.find(|(_, text)| text.contains('\0')) {
            return refused(field, "has a character that cannot be stored");
        }
        Ok(())
    }
}

/// Whether there can be an instance of that id.
pub(super) fn can_be(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST && !id.contains('\0')
}

/// The columns of [`Row`].
macro_rules! columns {
    () => {
        "id, global_account, subaccount, service_id, plan_id, plan_name, provider, region,
         platform_region, shoot_name, runtime_id, dashboard_url, ordered, details, revision,
         created_at, updated_at, deleted_at, expired_at, standing"
    };
}
pub(crate) use columns;

/// One row of `instances`.
#[derive(sqlx_macros::FromRow)]
pub(super) struct Row {
    pub(super) id: String,
    global_account: String,
    subaccount: String,
    service_id: String,
    plan_id: String,
    plan_name: String,
    provider: String,
    region: String,
    platform_region: String,
    pub(super) shoot_name: String,
    runtime_id: Option<Uuid>,
    dashboard_url: String,
    ordered: Vec<u8>,
    details: Option<Vec<u8>>,
    revision: i64,
    pub(super) created_at: Moment,
    updated_at: Moment,
    deleted_at: Option<Moment>,
    expired_at: Option<Moment>,
    standing: String,
}

impl Row {
    /// The instance, with what is sealed opened.
    pub(super) fn open(self, sealer: &Sealer) -> Result<Instance, Error> {
        let details = match &self.details {
            Some(sealed) => sealer.open(SealLocation { row: &self.id, ..DETAILS }, sealed)?,
            None => Vec::new(),
        };
        Ok(Instance {
            order: sealer.open(SealLocation { row: &self.id, ..ORDERED }, &self.ordered)?,
            details,
            id: self.id,
            global_account: self.global_account,
            subaccount: self.subaccount,
            service_id: self.service_id,
            plan_id: self.plan_id,
            plan_name: self.plan_name,
            provider: self.provider,
            region: self.region,
            platform_region: self.platform_region,
            shoot_name: self.shoot_name,
            runtime_id: self.runtime_id,
            dashboard_url: self.dashboard_url,
            revision: self.revision,
            created_at: self.created_at.into(),
            updated_at: self.updated_at.into(),
            deleted_at: self.deleted_at.map(Into::into),
            expired_at: self.expired_at.map(Into::into),
            standing: self.standing.parse().map_err(|()| {
                Error::Unreadable(format!("standing \"{}\" of an instance", self.standing))
            })?,
        })
    }
}

/// Seals an instance's order.
pub(super) fn seal_order(sealer: &Sealer, instance: &str, order: &[u8]) -> Vec<u8> {
    sealer.seal(SealLocation { row: instance, ..ORDERED }, order)
}

/// Opens an instance's order.
pub(super) fn open_order(sealer: &Sealer, instance: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(sealer.open(SealLocation { row: instance, ..ORDERED }, sealed)?)
}

/// Seals an instance's details.
pub(super) fn seal_details(sealer: &Sealer, instance: &str, details: &[u8]) -> Vec<u8> {
    sealer.seal(SealLocation { row: instance, ..DETAILS }, details)
}

const ORDERED: SealLocation<'static> =
    SealLocation { table: "instances", column: "ordered", row: "" };
const DETAILS: SealLocation<'static> =
    SealLocation { table: "instances", column: "details", row: "" };
