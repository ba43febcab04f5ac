//! Unfinished operations, recent failures, and living replicas. All by index, some rows at a time.
//!
//! What a reader would get wrong: unfinished operations have no index by age. An index of all that has not ended would be taken by
//! statements about one instance, and lead them through everybody's.

use ::engine::storage::Snapshot;
use jiff::Timestamp;
use serde::Serialize;
use sqlx_macros::FromRow;

use super::{
    EngineStore,
    rows::{OperationRow, columns},
};
use crate::{Error, Moment, sql::sql};

// One of each instance: the others wait behind it. No instance has an empty name.
const ADMITTED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM operations o WHERE o.due_at IS NOT NULL AND o.instance > $1 ORDER BY o.instance LIMIT $2"
);
const QUEUED: &str = "
    SELECT count(*) FROM operations WHERE due_at IS NULL AND ended_at IS NULL AND instance > ''";
// The index is that of journals that are not trimmed; journals are kept longer than a day.
const FAILED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM operations o
     WHERE o.ended_at IS NOT NULL AND NOT o.trimmed AND o.ended_at > $1 AND o.state = 'failed'
     ORDER BY o.ended_at DESC LIMIT $2"
);
sql!(ALIVE = "
    SELECT name, incarnation, joined_at, lease_until FROM replicas WHERE lease_until > " now);

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(crate) const TEXTS: &[(&str, &str)] = &[
    (ADMITTED, "operations_one_running"),
    (QUEUED, "operations_waiting"),
    (FAILED, "operations_to_trim"),
];

/// Some admitted operations, and where to go on.
#[derive(Debug, Clone, Default)]
pub struct AdmittedPage {
    /// The operations, in the order of their instances, without input and data.
    pub operations: Vec<Snapshot>,
    /// The instance behind which the next page begins; `None` on the last one.
    pub next: Option<String>,
}

/// A replica whose lease is good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replica {
    /// Its name.
    pub name: String,
    /// How often one of this name has been started.
    pub incarnation: i64,
    /// When it was started.
    pub joined_at: Timestamp,
    /// Until when its lease is good.
    pub lease_until: Timestamp,
}

#[derive(FromRow)]
struct ReplicaRow {
    name: String,
    incarnation: i64,
    joined_at: Moment,
    lease_until: Moment,
}

impl EngineStore {
    /// The unfinished operations of instances behind `after` that wait for no other one, without their input and data.
    pub async fn admitted(&self, after: &str, most: u32) -> Result<AdmittedPage, Error> {
        let found: Vec<OperationRow> = on!(self.database().reader(), |pool| {
            sqlx::query_as(ADMITTED).bind(after).bind(i64::from(most)).fetch_all(pool).await
        })?;
        let operations = snapshots(found)?;
        let last = operations.last().filter(|_| operations.len() == most as usize);
        let next = last.map(|last| last.instance.clone());
        Ok(AdmittedPage { operations, next })
    }

    /// How many operations wait behind another one of their instance.
    pub async fn queued(&self) -> Result<u64, Error> {
        let count: i64 = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(QUEUED).fetch_one(pool).await
        })?;
        Ok(count.unsigned_abs())
    }

    /// Operations that failed after `since`, newest first.
    pub async fn failed_since(&self, since: Timestamp, most: u32) -> Result<Vec<Snapshot>, Error> {
        let found: Vec<OperationRow> = on!(self.database().reader(), |pool| {
            sqlx::query_as(FAILED)
                .bind(Moment::from(since))
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
        })?;
        snapshots(found)
    }

    /// The replicas whose leases are good, by name.
    pub async fn alive(&self) -> Result<Vec<Replica>, Error> {
        let now = self.now();
        let mut found: Vec<ReplicaRow> = on!(self.database().reader(), ALIVE, |text, pool| {
            sqlx::query_as(text).bind(now).fetch_all(pool).await
        })?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        let replica = |row: ReplicaRow| Replica {
            name: row.name,
            incarnation: row.incarnation,
            joined_at: row.joined_at.into(),
            lease_until: row.lease_until.into(),
        };
        Ok(found.into_iter().map(replica).collect())
    }
}

fn snapshots(found: Vec<OperationRow>) -> Result<Vec<Snapshot>, Error> {
    found.into_iter().map(|row| row.into_snapshot(Vec::new(), Vec::new())).collect()
}
