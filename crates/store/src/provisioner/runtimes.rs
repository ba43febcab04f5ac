//! Reading runtimes, and the few writes that come without an operation.

use uuid::Uuid;

use super::{
    Kubeconfig, ProvisionerStore, Runtime,
    rows::{Row, columns, seal_document, seal_kubeconfig},
};
use crate::{Error, Moment};

const FIND: &str = concat!("SELECT ", columns!(), " FROM runtimes WHERE id = $1");

const LIST: &str =
    concat!("SELECT ", columns!(), " FROM runtimes WHERE id > $1 ORDER BY id LIMIT $2");
const LIST_OF_TENANT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM runtimes WHERE tenant = $3 AND id > $1 ORDER BY tenant, id LIMIT $2"
);

const LAST_OPERATION: &str = "
    SELECT id FROM operations WHERE instance = $1
    ORDER BY instance DESC, created_at DESC, id DESC LIMIT 1";

// Changes nothing: who holds the row keeps acceptances waiting, and sees those that came before.
const LOCK: &str = "
    UPDATE runtimes SET revision = revision
    WHERE id = $1 AND revision = $2 AND deleted_at IS NULL";
// $4: the tenant that the runtime moves to.
const REPLACE: &str = "
    UPDATE runtimes SET document = $3, revision = revision + 1,
        registered_tenant = COALESCE(registered_tenant, NULLIF(tenant, COALESCE($4, tenant))),
        tenant = COALESCE($4, tenant)
    WHERE id = $1 AND NOT EXISTS (
        SELECT 1 FROM operations WHERE instance = $2 AND ended_at IS NULL)";

const SAVE_KUBECONFIG: &str = "
    UPDATE runtimes SET kubeconfig = $2, kubeconfig_until = $3
    WHERE id = $1 AND deleted_at IS NULL";

const SHOOT_UID: &str = "SELECT shoot_uid FROM runtimes WHERE id = $1";
// The first one counts: it was made for the runtime.
const KEEP_SHOOT_UID: &str =
    "UPDATE runtimes SET shoot_uid = $2 WHERE id = $1 AND shoot_uid IS NULL";

const NOT_PROVISIONED: &str = "
    SELECT id, COALESCE(registered_tenant, tenant) FROM runtimes
    WHERE provisioned_at IS NULL AND deleted_at IS NULL AND failure_told_at IS NULL AND id > $1
    ORDER BY id LIMIT $2";
const FAILURE_TOLD: &str = "UPDATE runtimes SET failure_told_at = $2 WHERE id = $1";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (FIND, ""),
    (LIST, ""),
    (LIST_OF_TENANT, "runtimes_of_tenant"),
    (LAST_OPERATION, "operations_of_instance"),
    (LOCK, ""),
    (REPLACE, ""),
    (SAVE_KUBECONFIG, ""),
    (SHOOT_UID, ""),
    (KEEP_SHOOT_UID, ""),
    (NOT_PROVISIONED, "runtimes_not_provisioned"),
    (FAILURE_TOLD, ""),
];

impl ProvisionerStore {
    /// One runtime, also when it is deleted.
    pub async fn find(&self, id: Uuid) -> Result<Option<Runtime>, Error> {
        let row: Option<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(FIND).bind(id).fetch_optional(pool).await
        })?;
        row.map(|row| row.open(&self.sealer)).transpose()
    }

    /// At most `most` runtimes by id, of one tenant or of all, the deleted ones too. The next page
    /// comes `after` the last id of the one before.
    pub async fn list(
        &self,
        tenant: Option<&str>,
        after: Option<Uuid>,
        most: u32,
    ) -> Result<Vec<Runtime>, Error> {
        // No runtime has the nil id.
        let after = after.unwrap_or(Uuid::nil());
        let rows: Vec<Row> = on!(self.database().reader(), |pool| {
            let text = if tenant.is_some() { LIST_OF_TENANT } else { LIST };
            let mut query = sqlx::query_as(text).bind(after).bind(i64::from(most));
            if let Some(tenant) = tenant {
                query = query.bind(tenant);
            }
            query.fetch_all(pool).await
        })?;
        rows.into_iter().map(|row| row.open(&self.sealer)).collect()
    }

    /// The newest operation of a runtime.
    pub async fn last_operation(&self, runtime: Uuid) -> Result<Option<Uuid>, Error> {
        let instance = runtime.to_string();
        let id = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(LAST_OPERATION).bind(instance).fetch_optional(pool).await
        })?;
        Ok(id)
    }

    /// Replaces the configuration, and says whether it did: `revision` is still the current one, the
    /// runtime is not deleted, and none of its operations is unfinished. With `tenant`, the runtime moves there.
    pub async fn replace(
        &self,
        runtime: Uuid,
        revision: i64,
        document: &[u8],
        tenant: Option<&str>,
    ) -> Result<bool, Error> {
        let sealed = seal_document(&self.sealer, runtime, document);
        let instance = runtime.to_string();
        let mut transaction = self.database().begin().await?;
        let replaced = on!(transaction.connection(), |connection| {
            let locked =
                sqlx::query(LOCK).bind(runtime).bind(revision).execute(&mut *connection).await?;
            // In a statement of its own, so that it sees the operation of an acceptance that held
            // the row until now.
            locked.rows_affected() == 1
                && sqlx::query(REPLACE)
                    .bind(runtime)
                    .bind(instance)
                    .bind(sealed)
                    .bind(tenant)
                    .execute(connection)
                    .await?
                    .rows_affected()
                    == 1
        });
        if replaced {
            transaction.commit().await?;
        } else {
            transaction.rollback().await?;
        }
        Ok(replaced)
    }

    /// Keeps a kubeconfig for later; of a runtime that is deleted or unknown, nothing is kept. Does
    /// not raise the revision: nobody decides by it.
    pub async fn save_kubeconfig(
        &self,
        runtime: Uuid,
        kubeconfig: &Kubeconfig,
    ) -> Result<(), Error> {
        let sealed = seal_kubeconfig(&self.sealer, runtime, kubeconfig);
        let until = Moment::from(kubeconfig.until);
        on!(self.database().writer(), |pool| {
            sqlx::query(SAVE_KUBECONFIG)
                .bind(runtime)
                .bind(sealed)
                .bind(until)
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)
    }

    /// Gardener's uid of the Shoot that was made for a runtime, if it is known.
    pub async fn shoot_uid(&self, runtime: Uuid) -> Result<Option<String>, Error> {
        let found: Option<Option<String>> = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(SHOOT_UID).bind(runtime).fetch_optional(pool).await
        })?;
        Ok(found.flatten())
    }

    /// Keeps the uid of a runtime's Shoot, unless one is known.
    pub async fn keep_shoot_uid(&self, runtime: Uuid, uid: &str) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(KEEP_SHOOT_UID).bind(runtime).bind(uid).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }

    /// At most `most` runtimes by id that are not made yet and whose failure the Director was not notified of
    /// of, with the tenants under which the Director has them. The next page comes `after` the last id of the one before.
    pub async fn not_provisioned(
        &self,
        after: Option<Uuid>,
        most: u32,
    ) -> Result<Vec<(Uuid, String)>, Error> {
        let after = after.unwrap_or(Uuid::nil());
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_as(NOT_PROVISIONED).bind(after).bind(i64::from(most)).fetch_all(pool).await
        })?;
        Ok(found)
    }

    /// Notes that the Director knows that a runtime could not be made.
    pub async fn note_failure_told(&self, runtime: Uuid) -> Result<(), Error> {
        let now = Moment::from(self.clock.now());
        on!(self.database().writer(), |pool| {
            sqlx::query(FAILURE_TOLD).bind(runtime).bind(now).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }
}
