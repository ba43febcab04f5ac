//! Instances that another program has made, with everything that belongs to them: all of an instance or nothing.
//!
//! What a reader would get wrong: an instance that is here is never touched, whatever the other program knows of it by now.

mod orchestrations;

use std::collections::HashSet;

use jiff::Timestamp;
use uuid::Uuid;

pub use orchestrations::{ImportedMember, ImportedOrchestration};

use super::{
    BrokerStore, NewInstance,
    accept_new::LABEL,
    bindings,
    rows::{seal_details, seal_order},
    states,
};
use crate::{
    Connection, Error, Moment, Transaction,
    engine::ImportedOperation,
    sql::{list, sql},
};

// $17: the other way round than it shall be, so that the next statement works out the standing.
const STORE: &str = "
    INSERT INTO instances (id, global_account, subaccount, service_id, plan_id, plan_name, provider,
                           region, platform_region, shoot_name, dashboard_url, ordered, details,
                           digest, accepted_by, runtime_id, deleted_at, expired_at, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
    ON CONFLICT DO NOTHING";
// Triggers keep the standing when the end of an instance changes.
const SETTLE: &str = "UPDATE instances SET deleted_at = $2 WHERE id = $1";
const STATE: &str = "
    INSERT INTO runtime_states (id, instance, runtime_id, operation_id, holds, payload, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
const BINDING: &str = "
    INSERT INTO bindings (id, instance, binding, runtime_id, state, expiration_seconds, credentials, attempt,
        created_at, expires_at, due_at)
    VALUES ($1, $2, $3, $4, 'active', $5, $6, $1, $7, $8, $8)";

sql!(PRESENT = "SELECT id FROM instances WHERE " (any "id" "$1"));
// Also those that were removed or archived here.
sql!(KNOWN = "
    SELECT id FROM instances WHERE " (any "id" "$1") "
    UNION ALL SELECT instance FROM operations WHERE " (any "instance" "$1") "
    UNION ALL SELECT instance FROM instances_archived WHERE " (any "instance" "$1"));

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(STORE, ""), (SETTLE, ""), (STATE, ""), (BINDING, "")];
#[cfg(test)]
pub(super) const LISTS: &[(crate::sql::Text, &str)] = &[(PRESENT, ""), (KNOWN, "")];

/// The statements about orchestrations.
#[cfg(test)]
pub(super) const ORCHESTRATION_TEXTS: &[(&str, &str)] = orchestrations::TEXTS;

/// An instance that another program has made.
#[derive(Debug, Clone)]
pub struct ImportedInstance {
    /// The instance.
    pub instance: NewInstance,
    /// Its cluster.
    pub runtime_id: Option<Uuid>,
    /// By which a repetition of the order is recognised.
    pub digest: Vec<u8>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When it was removed, with something left over.
    pub deleted_at: Option<Timestamp>,
    pub expired_at: Option<Timestamp>,
    /// Its operations, the oldest first.
    pub operations: Vec<ImportedOperation>,
    /// The last configurations that were sent for its runtime.
    pub states: Vec<ImportedState>,
    /// Its bindings.
    pub bindings: Vec<ImportedBinding>,
}

/// A configuration that was sent for a runtime.
#[derive(Clone)]
pub struct ImportedState {
    pub runtime: Uuid,
    pub operation: Uuid,
    /// The parts of the payload, as lower-case words with hyphens.
    pub holds: Vec<String>,
    /// Sealed at rest.
    pub payload: Vec<u8>,
    pub created_at: Timestamp,
}

/// The payload carries secrets, so it is not printed.
impl std::fmt::Debug for ImportedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("ImportedState");
        shown.field("runtime", &self.runtime).field("holds", &self.holds).finish_non_exhaustive()
    }
}

/// Credentials for a runtime.
#[derive(Clone)]
pub struct ImportedBinding {
    /// As the platform calls it.
    pub binding: String,
    pub runtime: Uuid,
    pub expiration_seconds: i64,
    /// The kubeconfig; sealed at rest.
    pub credentials: Vec<u8>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// The credentials are not printed.
impl std::fmt::Debug for ImportedBinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("ImportedBinding");
        shown
            .field("binding", &self.binding)
            .field("runtime", &self.runtime)
            .finish_non_exhaustive()
    }
}

/// The result of importing an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It is stored with everything that belongs to it.
    Stored,
    /// Nothing stored: it is here already.
    Present,
    /// Nothing stored: another instance has its runtime.
    RuntimeTaken,
}

impl BrokerStore {
    /// Which of these instances exist here.
    pub async fn present(&self, ids: &[String]) -> Result<HashSet<String>, Error> {
        let found: Vec<String> = on!(self.database().reader(), PRESENT, |text, pool| {
            sqlx::query_scalar(text).bind(list(ids)).fetch_all(pool).await
        })?;
        Ok(found.into_iter().collect())
    }

    /// Which of these instances exist here, or existed and have been removed or archived since.
    pub async fn known(&self, ids: &[String]) -> Result<HashSet<String>, Error> {
        let found: Vec<String> = on!(self.database().reader(), KNOWN, |text, pool| {
            sqlx::query_scalar(text).bind(list(ids)).fetch_all(pool).await
        })?;
        Ok(found.into_iter().collect())
    }

    /// Stores instances in one transaction; each of them whole, or not at all.
    pub async fn import(&self, all: &[ImportedInstance]) -> Result<Vec<ImportOutcome>, Error> {
        for one in all {
            one.instance.check()?;
        }
        let mut transaction = self.database().begin().await?;
        let mut outcomes = Vec::with_capacity(all.len());
        for one in all {
            outcomes.push(self.import_one(&mut transaction, one).await?);
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    /// Stores the operations of an instance whose row is gone, in one transaction; how many were not here.
    pub async fn import_operations(&self, all: &[ImportedOperation]) -> Result<u64, Error> {
        let mut transaction = self.database().begin().await?;
        let mut stored = 0;
        for operation in all {
            let new = self.engine.import_in(transaction.connection(), operation).await?;
            stored += u64::from(new);
        }
        transaction.commit().await?;
        Ok(stored)
    }

    async fn import_one(
        &self,
        transaction: &mut Transaction,
        one: &ImportedInstance,
    ) -> Result<ImportOutcome, Error> {
        // No operation can be working on an instance that is not here, so the row may come first.
        if !self.import_row(transaction.connection(), one).await? {
            let present: Vec<String> =
                on!(transaction.connection(), PRESENT, |text, connection| {
                    let id = list(std::slice::from_ref(&one.instance.id));
                    sqlx::query_scalar(text).bind(id).fetch_all(connection).await
                })?;
            let there = !present.is_empty();
            return Ok(if there { ImportOutcome::Present } else { ImportOutcome::RuntimeTaken });
        }
        for operation in &one.operations {
            self.engine.import_in(transaction.connection(), operation).await?;
        }
        for state in &one.states {
            self.import_state(transaction.connection(), &one.instance.id, state).await?;
        }
        for binding in &one.bindings {
            self.import_binding(transaction.connection(), &one.instance.id, binding).await?;
        }
        on!(transaction.connection(), |connection| {
            sqlx::query(SETTLE)
                .bind(&one.instance.id)
                .bind(one.deleted_at.map(Moment::from))
                .execute(connection)
                .await
                .map(drop)
        })?;
        Ok(ImportOutcome::Stored)
    }

    /// Whether it was stored.
    async fn import_row(
        &self,
        connection: Connection<'_>,
        one: &ImportedInstance,
    ) -> Result<bool, Error> {
        let new = &one.instance;
        let ordered = seal_order(&self.sealer, &new.id, &new.order);
        let details = new.details.as_deref();
        let details = details.map(|details| seal_details(&self.sealer, &new.id, details));
        let accepted_by = one.operations.first().map_or(Uuid::nil(), |first| first.id);
        let other_end = one.deleted_at.is_none().then_some(Moment::from(one.created_at));
        let stored = on!(connection, |connection| {
            sqlx::query(STORE)
                .bind(&new.id)
                .bind(&new.global_account)
                .bind(&new.subaccount)
                .bind(&new.service_id)
                .bind(&new.plan_id)
                .bind(&new.plan_name)
                .bind(&new.provider)
                .bind(&new.region)
                .bind(&new.platform_region)
                .bind(&new.shoot_name)
                .bind(&new.dashboard_url)
                .bind(ordered)
                .bind(details)
                .bind(self.sealer.digest(LABEL, &one.digest))
                .bind(accepted_by)
                .bind(one.runtime_id)
                .bind(other_end)
                .bind(one.expired_at.map(Moment::from))
                .bind(Moment::from(one.created_at))
                .bind(Moment::from(one.updated_at))
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(stored == 1)
    }

    async fn import_state(
        &self,
        connection: Connection<'_>,
        instance: &str,
        state: &ImportedState,
    ) -> Result<(), Error> {
        let id = Uuid::now_v7();
        let payload = states::seal_payload(&self.sealer, id, &state.payload);
        on!(connection, |connection| {
            sqlx::query(STATE)
                .bind(id)
                .bind(instance)
                .bind(state.runtime)
                .bind(state.operation)
                .bind(format!(",{},", state.holds.join(",")))
                .bind(payload)
                .bind(Moment::from(state.created_at))
                .execute(connection)
                .await
                .map(drop)
        })?;
        Ok(())
    }

    async fn import_binding(
        &self,
        connection: Connection<'_>,
        instance: &str,
        binding: &ImportedBinding,
    ) -> Result<(), Error> {
        let id = Uuid::now_v7();
        let credentials = self.sealer.seal(bindings::place(&id.to_string()), &binding.credentials);
        on!(connection, |connection| {
            sqlx::query(BINDING)
                .bind(id)
                .bind(instance)
                .bind(&binding.binding)
                .bind(binding.runtime)
                .bind(binding.expiration_seconds.max(1))
                .bind(credentials)
                .bind(Moment::from(binding.created_at))
                .bind(Moment::from(binding.expires_at))
                .execute(connection)
                .await
                .map(drop)
        })?;
        Ok(())
    }
}
