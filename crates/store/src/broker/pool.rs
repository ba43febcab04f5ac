//! How many accounts of the pool were in use, once an hour: the rate at which they are used up is read from it.

use jiff::Timestamp;
use sqlx_macros::FromRow;

use super::BrokerStore;
use crate::Error;

const HOUR: i64 = 3_600;

const NOTE: &str = "
    INSERT INTO pool_samples (hour, hyperscaler, eu_access, used) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING";
const SINCE: &str = "
    SELECT hour, hyperscaler, eu_access, used FROM pool_samples WHERE hour >= $1
    ORDER BY hour, hyperscaler, eu_access";
const FORGET: &str = "DELETE FROM pool_samples WHERE hour < $1";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(NOTE, ""), (SINCE, ""), (FORGET, "")];

/// How many accounts of one sort were in use in an hour.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct PoolSample {
    /// The hour since 1970.
    pub hour: i64,
    /// The provider, as accounts are labelled.
    pub hyperscaler: String,
    /// Whether only people in the EU may touch them.
    pub eu_access: bool,
    /// How many were claimed or dirty.
    pub used: i64,
}

impl PoolSample {
    /// The hour of a time.
    pub fn hour_of(time: Timestamp) -> i64 {
        time.as_second().div_euclid(HOUR)
    }
}

impl BrokerStore {
    /// Keeps samples, each unless there is one of its hour.
    pub async fn note_pool(&self, samples: &[PoolSample]) -> Result<(), Error> {
        for sample in samples {
            on!(self.database().writer(), |pool| {
                sqlx::query(NOTE)
                    .bind(sample.hour)
                    .bind(&sample.hyperscaler)
                    .bind(sample.eu_access)
                    .bind(sample.used)
                    .execute(pool)
                    .await
                    .map(drop)
            })
            .map_err(Error::writing)?;
        }
        Ok(())
    }

    /// The samples since the hour of this time, oldest first.
    pub async fn pool_since(&self, since: Timestamp) -> Result<Vec<PoolSample>, Error> {
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_as(SINCE).bind(PoolSample::hour_of(since)).fetch_all(pool).await
        })?;
        Ok(found)
    }

    /// Deletes the samples before the hour of this time.
    pub async fn forget_pool(&self, before: Timestamp) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(FORGET).bind(PoolSample::hour_of(before)).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }
}
