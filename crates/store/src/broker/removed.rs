//! Instances whose rows are gone: what is left of them are their operations.
//!
//! What a reader would get wrong: only the account and the id are left to find them by. Everything else stands in the
//! sealed input of the operation that removed them. They are in the order in which their removal was asked for.

use jiff::Timestamp;
use uuid::Uuid;

use super::BrokerStore;
use crate::{
    Error, Moment,
    sql::{Text, list, sql},
};

/// An instance whose row is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedInstance {
    pub instance: String,
    /// Its global account.
    pub global_account: String,
    /// The operation that removed it.
    pub operation: Uuid,
    /// When that operation was accepted.
    pub accepted_at: Timestamp,
    /// When that operation ended.
    pub ended_at: Timestamp,
}

impl RemovedInstance {
    /// Where to go on behind it.
    pub fn key(&self) -> RemovedKey {
        (self.accepted_at, self.operation)
    }
}

/// When a removal was accepted, and which it was.
pub type RemovedKey = (Timestamp, Uuid);

// The newest operation of an instance that has no row. $1: accounts, $2: instances.
macro_rules! removed {
    ($what:literal, $way:tt, $end:literal) => {
        sql!(
            "SELECT " $what " FROM operations
             WHERE " $way " AND kind = 'deprovision' AND state = 'succeeded'
               AND (" (unset "$1") " OR " (any "lane" "$1") ")
               AND (" (unset "$2") " OR " (any "instance" "$2") ")
               AND NOT EXISTS (SELECT 1 FROM instances WHERE instances.id = operations.instance)
               AND NOT EXISTS (
                   SELECT 1 FROM operations newer WHERE newer.instance = operations.instance
                   AND (newer.created_at, newer.id) > (operations.created_at, operations.id))" $end
        )
    };
}

const PAGE: Text = removed!(
    "instance, lane, id, created_at, ended_at",
    "(created_at, id) > ($3, $4)",
    " ORDER BY created_at, id LIMIT $5 OFFSET $6"
);
const NEWEST: Text = removed!(
    "instance, lane, id, created_at, ended_at",
    "(created_at, id) < ($3, $4)",
    " ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6"
);
const TOTAL: Text = removed!(
    "count(*) FROM (SELECT 1",
    "(created_at, id) > ($3, $4)",
    " ORDER BY created_at, id LIMIT $5) counted"
);
const MARKS: Text = removed!(
    "created_at, id FROM (
     SELECT created_at, id, row_number() OVER (ORDER BY created_at, id) AS number",
    "(created_at, id) > ($3, $4)",
    ") numbered WHERE number % $5 = 0"
);
const FEW: Text = removed!("instance, lane, id, created_at, ended_at", (any "instance" "$2"), "");

/// Every statement, with the index it goes by.
#[cfg(test)]
pub(super) const LISTS: &[(Text, &str)] = &[
    (PAGE, "operations_removals"),
    (NEWEST, "operations_removals"),
    (TOTAL, "operations_removals"),
    (MARKS, "operations_removals"),
    (FEW, "operations_of_instance"),
];

#[derive(sqlx_macros::FromRow)]
struct Row {
    instance: String,
    lane: String,
    id: Uuid,
    created_at: Moment,
    ended_at: Option<Moment>,
}

#[derive(sqlx_macros::FromRow)]
struct Mark {
    created_at: Moment,
    id: Uuid,
}

/// The conditions, bound: no instance is named, and no operation is as old as none.
macro_rules! bound {
    ($query:expr, $accounts:expr, $after:expr) => {{
        let lanes = (!$accounts.is_empty()).then(|| list($accounts));
        let (accepted_at, operation) = $after.unwrap_or((Timestamp::UNIX_EPOCH, Uuid::nil()));
        let query = $query.bind(lanes).bind(None::<String>);
        query.bind(Moment::from(accepted_at)).bind(operation)
    }};
}

impl BrokerStore {
    /// Some of the instances whose rows are gone, behind the one with this key. No accounts: of any.
    pub async fn removed_page(
        &self,
        accounts: &[String],
        after: Option<RemovedKey>,
        skip: u32,
        most: u32,
    ) -> Result<Vec<RemovedInstance>, Error> {
        let rows: Vec<Row> = on!(self.database().reader(), PAGE, |text, pool| {
            let query = bound!(sqlx::query_as(text), accounts, after);
            query.bind(i64::from(most)).bind(i64::from(skip)).fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(RemovedInstance::from).collect())
    }

    /// Some of them from the newest back, the one whose removal was asked for last first.
    pub async fn removed_newest(
        &self,
        accounts: &[String],
        skip: u32,
        most: u32,
    ) -> Result<Vec<RemovedInstance>, Error> {
        let end: Option<RemovedKey> = Some((Timestamp::MAX, Uuid::nil()));
        let rows: Vec<Row> = on!(self.database().reader(), NEWEST, |text, pool| {
            let query = bound!(sqlx::query_as(text), accounts, end);
            query.bind(i64::from(most)).bind(i64::from(skip)).fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(RemovedInstance::from).collect())
    }

    /// How many there are behind the one with this key, counted until there are so many.
    pub async fn removed_total(
        &self,
        accounts: &[String],
        after: Option<RemovedKey>,
        most: u32,
    ) -> Result<u64, Error> {
        let total: i64 = on!(self.database().reader(), TOTAL, |text, pool| {
            let query = bound!(sqlx::query_scalar(text), accounts, after);
            query.bind(i64::from(most)).fetch_one(pool).await
        })?;
        Ok(total.unsigned_abs())
    }

    /// The key of the last of each `every` of them.
    pub async fn removed_marks(
        &self,
        accounts: &[String],
        every: u32,
    ) -> Result<Vec<RemovedKey>, Error> {
        let first: Option<RemovedKey> = None;
        let marks: Vec<Mark> = on!(self.database().reader(), MARKS, |text, pool| {
            let query = bound!(sqlx::query_as(text), accounts, first);
            query.bind(i64::from(every)).fetch_all(pool).await
        })?;
        let mut keys: Vec<RemovedKey> =
            marks.into_iter().map(|mark| (mark.created_at.into(), mark.id)).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    /// Those of these instances whose rows are gone.
    pub async fn removed_among(
        &self,
        accounts: &[String],
        instances: &[String],
    ) -> Result<Vec<RemovedInstance>, Error> {
        let (lanes, ids) = ((!accounts.is_empty()).then(|| list(accounts)), list(instances));
        let mut rows: Vec<Row> = on!(self.database().reader(), FEW, |text, pool| {
            sqlx::query_as(text).bind(lanes).bind(ids).fetch_all(pool).await
        })?;
        rows.sort_by_key(|row| row.id);
        Ok(rows.into_iter().map(RemovedInstance::from).collect())
    }
}

impl From<Row> for RemovedInstance {
    fn from(row: Row) -> Self {
        Self {
            instance: row.instance,
            global_account: row.lane,
            operation: row.id,
            accepted_at: row.created_at.into(),
            ended_at: row.ended_at.map(Into::into).unwrap_or_default(),
        }
    }
}
