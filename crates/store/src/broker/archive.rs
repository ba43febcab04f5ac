//! The archive of instances whose operations are deleted.
//!
//! What a reader would get wrong: the id of an archived instance is still taken. Its row here names the last operation, as the
//! operations did before.

use jiff::Timestamp;
use uuid::Uuid;

use super::{BrokerStore, rows::can_be};
use crate::{Connection, Error, Moment};

macro_rules! columns {
    () => {
        "instance, global_account, subscription_global_account, subaccount, plan_id, plan_name, provider, region,
         platform_region, shoot_name, last_runtime_id, internal_user, provisioning_state, provisioning_started_at,
         provisioning_finished_at, first_deprovisioning_started_at, first_deprovisioning_finished_at,
         last_deprovisioning_finished_at, last_operation, archived_at"
    };
}

// Only an instance whose row is gone, and of which nothing runs.
const ARCHIVE: &str = concat!(
    "INSERT INTO instances_archived (",
    columns!(),
    ") SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20
       WHERE NOT EXISTS (SELECT 1 FROM instances WHERE id = $1)
         AND NOT EXISTS (SELECT 1 FROM operations WHERE instance = $1 AND ended_at IS NULL)
       ON CONFLICT (instance) DO NOTHING"
);
const FORGET_JOURNALS: &str =
    "DELETE FROM runs WHERE operation_id IN (SELECT id FROM operations WHERE instance = $1)";
const FORGET_OPERATIONS: &str = "DELETE FROM operations WHERE instance = $1";
const FIND: &str = concat!("SELECT ", columns!(), " FROM instances_archived WHERE instance = $1");
pub(super) const LAST_OPERATION: &str =
    "SELECT last_operation FROM instances_archived WHERE instance = $1";
const PAGE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM instances_archived WHERE instance > $1 ORDER BY instance LIMIT $2"
);
const OF_ACCOUNT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM instances_archived WHERE global_account = $3 AND instance > $1 ORDER BY instance LIMIT $2"
);
const FORGET: &str = "
    DELETE FROM instances_archived WHERE instance IN (
        SELECT instance FROM instances_archived WHERE archived_at < $1 ORDER BY archived_at LIMIT $2)";
const COUNT_OLD: &str = "
    SELECT count(*) FROM (SELECT 1 FROM instances_archived WHERE archived_at < $1 LIMIT $2) AS old";
// The removals of instances whose rows are gone, those first that were asked for first.
const ENDED: &str = "
    SELECT instance, lane, id, created_at FROM operations
    WHERE (created_at, id) > ($1, $2) AND created_at < $3 AND ended_at < $3
      AND kind = 'deprovision' AND state = 'succeeded'
      AND NOT EXISTS (SELECT 1 FROM instances WHERE instances.id = operations.instance)
      AND NOT EXISTS (
          SELECT 1 FROM operations newer WHERE newer.instance = operations.instance
          AND (newer.created_at, newer.id) > (operations.created_at, operations.id))
    ORDER BY created_at, id LIMIT $4";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (ARCHIVE, "operations_of_instance"),
    (FORGET_JOURNALS, "operations_of_instance"),
    (FORGET_OPERATIONS, "operations_of_instance"),
    (FIND, ""),
    (LAST_OPERATION, ""),
    (PAGE, ""),
    (OF_ACCOUNT, "instances_archived_of_account"),
    (FORGET, "instances_archived_by_age"),
    (COUNT_OLD, "instances_archived_by_age"),
    (ENDED, "operations_removals"),
];

/// The archive entry of an instance.
#[derive(Debug, Clone, PartialEq, Eq, sqlx_macros::FromRow)]
pub struct ArchivedInstance {
    /// The instance.
    pub instance: String,
    /// Its global account, as the removal knew it.
    pub global_account: String,
    /// The global account that paid for its clusters.
    pub subscription_global_account: String,
    /// The subaccount.
    pub subaccount: String,
    /// The plan.
    pub plan_id: String,
    /// The plan's name.
    pub plan_name: String,
    /// The provider of its cluster; empty when it never had one.
    pub provider: String,
    /// The provider's region; empty when it never had a cluster.
    pub region: String,
    /// The region of the platform.
    pub platform_region: String,
    /// The name of its Shoot.
    pub shoot_name: String,
    /// Its last cluster.
    pub last_runtime_id: Option<Uuid>,
    /// Whether a user of the operating company ordered it.
    pub internal_user: bool,
    /// How the first order ended.
    pub provisioning_state: String,
    /// When the first order was accepted.
    pub provisioning_started_at: Option<Moment>,
    /// When the first order ended.
    pub provisioning_finished_at: Option<Moment>,
    /// When the first removal was accepted.
    pub first_deprovisioning_started_at: Moment,
    /// When the first removal ended.
    pub first_deprovisioning_finished_at: Moment,
    /// When the last removal ended.
    pub last_deprovisioning_finished_at: Moment,
    /// The last removal.
    pub last_operation: Uuid,
    /// When it was archived.
    pub archived_at: Moment,
}

/// A removal that ended some time ago, of an instance whose row is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRemoval {
    /// The instance.
    pub instance: String,
    /// Its global account.
    pub global_account: String,
    /// The removal.
    pub operation: Uuid,
    /// When it was accepted; with the operation, where to go on.
    pub created_at: Timestamp,
}

#[derive(sqlx_macros::FromRow)]
struct EndedRow {
    instance: String,
    lane: String,
    id: Uuid,
    created_at: Moment,
}

impl BrokerStore {
    /// At most `most` removals that ended before `before`, of instances whose rows are gone, behind `after`.
    pub async fn ended_removals(
        &self,
        before: Timestamp,
        after: Option<(Timestamp, Uuid)>,
        most: u32,
    ) -> Result<Vec<EndedRemoval>, Error> {
        let (created_at, id) = after.unwrap_or((Timestamp::UNIX_EPOCH, Uuid::nil()));
        let rows: Vec<EndedRow> = on!(self.database().reader(), |pool| {
            sqlx::query_as(ENDED)
                .bind(Moment::from(created_at))
                .bind(id)
                .bind(Moment::from(before))
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
        })?;
        let removal = |row: EndedRow| EndedRemoval {
            instance: row.instance,
            global_account: row.lane,
            operation: row.id,
            created_at: row.created_at.into(),
        };
        Ok(rows.into_iter().map(removal).collect())
    }

    /// Archives an instance and deletes its operations with their journals, unless its row is there or something of it
    /// runs. Says whether it is archived.
    pub async fn archive(&self, archived: &ArchivedInstance) -> Result<bool, Error> {
        let mut transaction = self.database().begin().await?;
        if !store(transaction.connection(), archived).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        for text in [FORGET_JOURNALS, FORGET_OPERATIONS] {
            on!(transaction.connection(), |connection| {
                sqlx::query(text).bind(&archived.instance).execute(connection).await.map(drop)
            })?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores what another program has kept of removed instances, in one transaction; how many were not here.
    pub async fn import_archived(&self, all: &[ArchivedInstance]) -> Result<usize, Error> {
        let (mut transaction, mut new) = (self.database().begin().await?, 0);
        for archived in all {
            new += usize::from(store(transaction.connection(), archived).await?);
        }
        transaction.commit().await?;
        Ok(new)
    }

    /// The archive entry of an instance.
    pub async fn find_archived(&self, instance: &str) -> Result<Option<ArchivedInstance>, Error> {
        if !can_be(instance) {
            return Ok(None);
        }
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_as(FIND).bind(instance).fetch_optional(pool).await
        })?;
        Ok(found)
    }

    /// At most `most` archived instances by id, of one global account or of all, behind `after`.
    pub async fn archived_page(
        &self,
        account: Option<&str>,
        after: &str,
        most: u32,
    ) -> Result<Vec<ArchivedInstance>, Error> {
        if !account.into_iter().chain([after]).all(|text| !text.contains('\0')) {
            return Ok(Vec::new());
        }
        let most = i64::from(most);
        let page = on!(self.database().reader(), |pool| {
            match account {
                Some(account) => {
                    let query = sqlx::query_as(OF_ACCOUNT).bind(after).bind(most);
                    query.bind(account).fetch_all(pool).await
                }
                None => sqlx::query_as(PAGE).bind(after).bind(most).fetch_all(pool).await,
            }
        })?;
        Ok(page)
    }

    /// How many instances were archived before `before`, counted up to `most`.
    pub async fn count_archived(&self, before: Timestamp, most: u32) -> Result<u64, Error> {
        let count: i64 = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(COUNT_OLD)
                .bind(Moment::from(before))
                .bind(i64::from(most))
                .fetch_one(pool)
                .await
        })?;
        Ok(count.unsigned_abs())
    }

    /// Deletes at most `most` archived instances that were archived before `before`; how many.
    pub async fn forget_archived(&self, before: Timestamp, most: u32) -> Result<u64, Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(FORGET)
                .bind(Moment::from(before))
                .bind(i64::from(most))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)
    }
}

/// Whether it was stored: its row may be there, or something of it runs, or it is archived already.
async fn store(connection: Connection<'_>, it: &ArchivedInstance) -> Result<bool, Error> {
    let stored = on!(connection, |connection| {
        sqlx::query(ARCHIVE)
            .bind(&it.instance)
            .bind(&it.global_account)
            .bind(&it.subscription_global_account)
            .bind(&it.subaccount)
            .bind(&it.plan_id)
            .bind(&it.plan_name)
            .bind(&it.provider)
            .bind(&it.region)
            .bind(&it.platform_region)
            .bind(&it.shoot_name)
            .bind(it.last_runtime_id)
            .bind(it.internal_user)
            .bind(&it.provisioning_state)
            .bind(it.provisioning_started_at)
            .bind(it.provisioning_finished_at)
            .bind(it.first_deprovisioning_started_at)
            .bind(it.first_deprovisioning_finished_at)
            .bind(it.last_deprovisioning_finished_at)
            .bind(it.last_operation)
            .bind(it.archived_at)
            .execute(connection)
            .await
            .map(|done| done.rows_affected())
    })?;
    Ok(stored == 1)
}
