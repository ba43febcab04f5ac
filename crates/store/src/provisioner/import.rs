//! Runtimes that another program has made, with their operations: all of a runtime or nothing.
//!
//! What a reader would get wrong: the uid of the Shoot is not known there. It is kept as soon as a Shoot is found that has the
//! name and names the runtime in its annotations.

use jiff::Timestamp;
use uuid::Uuid;

use super::{NewRuntime, ProvisionerStore, rows::seal_document};
use crate::{
    Connection, Error, Moment,
    engine::ImportedOperation,
    sql::{ids, sql},
};

const STORE: &str = "
    INSERT INTO runtimes (id, tenant, subaccount, shoot, document, created_at, provisioned_at, deleted_at,
                          failure_told_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT DO NOTHING";

sql!(PRESENT = "SELECT id FROM runtimes WHERE " (any_id "id" "$1"));

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(STORE, "")];
#[cfg(test)]
pub(super) const LISTS: &[(crate::sql::Text, &str)] = &[(PRESENT, "")];

/// A runtime that another program has made.
#[derive(Debug, Clone)]
pub struct ImportedRuntime {
    /// The runtime.
    pub runtime: NewRuntime,
    pub created_at: Timestamp,
    /// When its cluster was there for the first time.
    pub provisioned_at: Option<Timestamp>,
    /// When it was gone.
    pub deleted_at: Option<Timestamp>,
    /// Its operations, the oldest first.
    pub operations: Vec<ImportedOperation>,
}

/// The result of importing a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeOutcome {
    /// It is stored with its operations.
    Stored,
    /// Nothing stored: it is here already.
    Present,
    /// Nothing stored: another runtime has a Shoot of that name.
    NameTaken,
}

impl ProvisionerStore {
    /// Which of these runtimes exist here.
    pub async fn present(&self, runtimes: &[Uuid]) -> Result<Vec<Uuid>, Error> {
        let found = on!(self.database().reader(), PRESENT, |text, pool| {
            sqlx::query_scalar(text).bind(ids(runtimes)).fetch_all(pool).await
        })?;
        Ok(found)
    }

    /// Stores runtimes in one transaction; each of them whole, or not at all.
    pub async fn import(&self, all: &[ImportedRuntime]) -> Result<Vec<RuntimeOutcome>, Error> {
        let mut transaction = self.database().begin().await?;
        let mut outcomes = Vec::with_capacity(all.len());
        for one in all {
            if self.import_row(transaction.connection(), one).await? {
                for operation in &one.operations {
                    self.engine.import_in(transaction.connection(), operation).await?;
                }
                outcomes.push(RuntimeOutcome::Stored);
                continue;
            }
            let present: Vec<Uuid> = on!(transaction.connection(), PRESENT, |text, connection| {
                sqlx::query_scalar(text).bind(ids(&[one.runtime.id])).fetch_all(connection).await
            })?;
            let there = !present.is_empty();
            outcomes.push(if there { RuntimeOutcome::Present } else { RuntimeOutcome::NameTaken });
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    /// Whether it was stored.
    async fn import_row(
        &self,
        connection: Connection<'_>,
        one: &ImportedRuntime,
    ) -> Result<bool, Error> {
        let runtime = &one.runtime;
        let sealed = seal_document(&self.sealer, runtime.id, &runtime.document);
        // The other program has notified the Director of those that it could not make.
        let failed = one.provisioned_at.is_none().then(|| Moment::from(one.created_at));
        let stored = on!(connection, |connection| {
            sqlx::query(STORE)
                .bind(runtime.id)
                .bind(&runtime.tenant)
                .bind(&runtime.subaccount)
                .bind(&runtime.shoot)
                .bind(sealed)
                .bind(Moment::from(one.created_at))
                .bind(one.provisioned_at.map(Moment::from))
                .bind(one.deleted_at.map(Moment::from))
                .bind(failed)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        Ok(stored == 1)
    }
}
