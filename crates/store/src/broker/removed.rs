//! Instances whose rows are gone: what is left of them are their operations.
//!
//! What a reader would get wrong: only the account and the id are left to find them by. Everything else stands in the
//! sealed input of the operation that removed them.

use jiff::Timestamp;
use uuid::Uuid;

use super::BrokerStore;
use crate::{
    Error, Moment,
    sql::{Text, list, sql},
};

/// An instance whose row is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
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
const TOTAL: Text = removed!("count(*)", "(created_at, id) > ($3, $4)", "");
const FEW: Text = removed!("instance, lane, id, created_at, ended_at", (any "instance" "$2"), "");

/// Every statement, with the index it goes by.
#[cfg(test)]
pub(super) const LISTS: &[(Text, &str)] =
    &[(PAGE, "operations_by_age"), (TOTAL, "operations_by_age"), (FEW, "operations_of_instance")];

#[derive(sqlx_macros::FromRow)]
struct Row {
    instance: String,
    lane: String,
    id: Uuid,
    created_at: Moment,
    ended_at: Option<Moment>,
}

impl BrokerStore {
    /// Some of the instances whose rows are gone, those first whose removal was asked for first, and how many there
    /// are in all. What is empty does not choose.
    pub async fn removed(
        &self,
        accounts: &[String],
        instances: &[String],
        skip: u64,
        most: u32,
    ) -> Result<(Vec<Removed>, u64), Error> {
        let texts = |values: &[String]| (!values.is_empty()).then(|| list(values));
        let (lanes, ids) = (texts(accounts), texts(instances));
        if !instances.is_empty() {
            let rows = self.removed_among(accounts, instances).await?;
            let total = rows.len() as u64;
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            let page = rows.into_iter().skip(skip).take(most as usize);
            return Ok((page.collect(), total));
        }
        let (start, none) = (Moment::from(Timestamp::UNIX_EPOCH), Uuid::nil());
        let total: i64 = on!(self.database().reader(), TOTAL, |text, pool| {
            sqlx::query_scalar(text)
                .bind(lanes.clone())
                .bind(ids.clone())
                .bind(start)
                .bind(none)
                .fetch_one(pool)
                .await
        })?;
        let rows: Vec<Row> = on!(self.database().reader(), PAGE, |text, pool| {
            sqlx::query_as(text)
                .bind(lanes)
                .bind(ids)
                .bind(start)
                .bind(none)
                .bind(i64::from(most))
                .bind(i64::try_from(skip).unwrap_or(i64::MAX))
                .fetch_all(pool)
                .await
        })?;
        Ok((rows.into_iter().map(Removed::from).collect(), total.unsigned_abs()))
    }

    /// Those of these instances whose rows are gone, those first whose removal was asked for first.
    pub async fn removed_among(
        &self,
        accounts: &[String],
        instances: &[String],
    ) -> Result<Vec<Removed>, Error> {
        let (lanes, ids) = ((!accounts.is_empty()).then(|| list(accounts)), list(instances));
        let mut rows: Vec<Row> = on!(self.database().reader(), FEW, |text, pool| {
            sqlx::query_as(text).bind(lanes).bind(ids).fetch_all(pool).await
        })?;
        rows.sort_by_key(|row| row.id);
        Ok(rows.into_iter().map(Removed::from).collect())
    }

    /// The instances whose rows are gone and that come behind this one, those first whose removal was asked for first. Unlike
    /// pages by number, each page costs the same.
    pub async fn removed_after(
        &self,
        accounts: &[String],
        after: Option<&Removed>,
        most: u32,
    ) -> Result<Vec<Removed>, Error> {
        let lanes = (!accounts.is_empty()).then(|| list(accounts));
        let start = after.map(|after| (after.accepted_at, after.operation));
        let (accepted_at, operation) = start.unwrap_or((Timestamp::UNIX_EPOCH, Uuid::nil()));
        let rows: Vec<Row> = on!(self.database().reader(), PAGE, |text, pool| {
            sqlx::query_as(text)
                .bind(lanes)
                .bind(None::<String>)
                .bind(Moment::from(accepted_at))
                .bind(operation)
                .bind(i64::from(most))
                .bind(0_i64)
                .fetch_all(pool)
                .await
        })?;
        Ok(rows.into_iter().map(Removed::from).collect())
    }
}

impl From<Row> for Removed {
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
