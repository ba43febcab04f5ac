//! What is kept of jobs beside their runs: since when each is known, so that the first run is due one interval later.

use jiff::Timestamp;

use super::BrokerStore;
use crate::{Error, Moment};

const NOTE: &str = "INSERT INTO jobs (name, since) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const SINCE: &str = "SELECT since FROM jobs WHERE name = $1";

// Runs of a job that ended before $2, without the newest one: the next run is due by it. $3: how many at most.
macro_rules! old_runs {
    ($what:literal) => {
        concat!(
            "SELECT ",
            $what,
            " FROM operations WHERE instance = $1 AND ended_at < $2
               AND EXISTS (SELECT 1 FROM operations newer WHERE newer.instance = $1
                   AND (newer.created_at, newer.id) > (operations.created_at, operations.id))
             ORDER BY instance, created_at, id LIMIT $3"
        )
    };
}
const FORGET_JOURNALS: &str =
    concat!("DELETE FROM runs WHERE operation_id IN (", old_runs!("id"), ")");
const FORGET_DETAILS: &str =
    concat!("DELETE FROM job_details WHERE operation_id IN (", old_runs!("id"), ")");
const FORGET_RUNS: &str = concat!("DELETE FROM operations WHERE id IN (", old_runs!("id"), ")");

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (NOTE, ""),
    (SINCE, ""),
    (FORGET_JOURNALS, "operations_of_instance"),
    (FORGET_DETAILS, "operations_of_instance"),
    (FORGET_RUNS, "operations_of_instance"),
];

impl BrokerStore {
    /// Since when a job is known: since now, when it was not.
    pub async fn job_known_since(&self, name: &str) -> Result<Timestamp, Error> {
        let now = Moment::from(self.clock.now());
        on!(self.database().writer(), |pool| {
            sqlx::query(NOTE).bind(name).bind(now).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)?;
        let since: Moment = on!(self.database().writer(), |pool| {
            sqlx::query_scalar(SINCE).bind(name).fetch_one(pool).await
        })?;
        Ok(since.into())
    }

    /// Deletes at most `most` runs of a job that ended before `before`, with their journals and details, but never the newest run; how many.
    pub async fn forget_job_runs(
        &self,
        instance: &str,
        before: Timestamp,
        most: u32,
    ) -> Result<u64, Error> {
        let before = Moment::from(before);
        let mut transaction = self.database().begin().await?;
        let mut forgotten = 0;
        for text in [FORGET_JOURNALS, FORGET_DETAILS, FORGET_RUNS] {
            forgotten = on!(transaction.connection(), |connection| {
                sqlx::query(text)
                    .bind(instance)
                    .bind(before)
                    .bind(i64::from(most))
                    .execute(connection)
                    .await
                    .map(|done| done.rows_affected())
            })?;
        }
        transaction.commit().await?;
        Ok(forgotten)
    }
}
