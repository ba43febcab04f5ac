//! Calls whose effect cannot be looked for afterwards: written down before they leave.
//!
//! What a reader would get wrong: the rows are facts and no decisions, so they are not fenced. A replica that has lost its
//! lease may still say what it was answered.

use jiff::Timestamp;
use uuid::Uuid;

use super::BrokerStore;
use crate::{Error, Moment};

const BEGIN: &str = "
    INSERT INTO creations (id, system, name, instance, operation_id, began_at)
    VALUES ($1, $2, $3, $4, $5, $6)";
const ANSWER: &str = "UPDATE creations SET answer = $2 WHERE id = $1";
pub(super) const FORGET: &str = "DELETE FROM creations WHERE id = $1";
const OF_INSTANCE: &str = "
    SELECT id, system, name, instance, operation_id, began_at, answer FROM creations
    WHERE instance = $1 ORDER BY id";
const LIST: &str = "
    SELECT id, system, name, instance, operation_id, began_at, answer FROM creations
    WHERE id > $1 ORDER BY id LIMIT $2";
// Each operation is looked up by its id: joined, the planner may read all of them.
const ABANDONED: &str = "
    SELECT count(*) FROM (
        SELECT creations.id FROM creations
        WHERE creations.id > $1 AND COALESCE(
            (SELECT ended_at IS NOT NULL FROM operations WHERE operations.id = creations.operation_id), true)
        ORDER BY creations.id LIMIT $2) counted";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (BEGIN, ""),
    (ANSWER, ""),
    (FORGET, ""),
    (OF_INSTANCE, "creations_of_instance"),
    (LIST, ""),
    (ABANDONED, ""),
];

/// A call that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCreation<'a> {
    /// The system that is called.
    pub system: &'a str,
    /// The name of the object in that system.
    pub name: &'a str,
    /// For which instance.
    pub instance: &'a str,
    /// By which operation.
    pub operation: Uuid,
}

/// A call that was made, or was about to be, and whose result no operation has kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    /// Its id; the oldest come first.
    pub id: Uuid,
    /// The system that was called.
    pub system: String,
    /// The name of the object in that system.
    pub name: String,
    /// For which instance.
    pub instance: String,
    /// By which operation.
    pub operation: Uuid,
    /// When it left at the earliest.
    pub began_at: Timestamp,
    /// The id of the thing, if the answer came.
    pub answer: Option<String>,
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    system: String,
    name: String,
    instance: String,
    operation_id: Uuid,
    began_at: Moment,
    answer: Option<String>,
}

impl From<Row> for Creation {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            system: row.system,
            name: row.name,
            instance: row.instance,
            operation: row.operation_id,
            began_at: row.began_at.into(),
            answer: row.answer,
        }
    }
}

impl BrokerStore {
    /// Writes down that a call is about to leave.
    pub async fn begin_creation(&self, new: NewCreation<'_>) -> Result<Uuid, Error> {
        let id = Uuid::now_v7();
        on!(self.database().writer(), |pool| {
            sqlx::query(BEGIN)
                .bind(id)
                .bind(new.system)
                .bind(new.name)
                .bind(new.instance)
                .bind(new.operation)
                .bind(Moment::from(self.clock.now()))
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)?;
        Ok(id)
    }

    /// Writes down the id that a call was answered with.
    pub async fn answer_creation(&self, id: Uuid, answer: &str) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(ANSWER).bind(id).bind(answer).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }

    /// Forgets a call: it made nothing, or what it made is gone or known. Says whether it was written down.
    pub async fn forget_creation(&self, id: Uuid) -> Result<bool, Error> {
        let gone = on!(self.database().writer(), |pool| {
            sqlx::query(FORGET).bind(id).execute(pool).await.map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok(gone == 1)
    }

    /// All calls for an instance whose result no operation has kept, oldest first.
    pub async fn creations_of(&self, instance: &str) -> Result<Vec<Creation>, Error> {
        let rows: Vec<Row> = on!(self.database().writer(), |pool| {
            sqlx::query_as(OF_INSTANCE).bind(instance).fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(Creation::from).collect())
    }

    /// At most `most` calls whose result no operation has kept, oldest first, behind `after`.
    pub async fn creations(&self, after: Option<Uuid>, most: u32) -> Result<Vec<Creation>, Error> {
        let after = after.unwrap_or_default();
        let rows: Vec<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(LIST).bind(after).bind(i64::from(most)).fetch_all(pool).await
        })?;
        Ok(rows.into_iter().map(Creation::from).collect())
    }

    /// The number of calls whose result no operation has kept, and whose operation has ended or is gone; counted up to `most`.
    pub async fn abandoned_creations(&self, most: u32) -> Result<u64, Error> {
        let number: i64 = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(ABANDONED)
                .bind(Uuid::nil())
                .bind(i64::from(most))
                .fetch_one(pool)
                .await
        })?;
        Ok(number.unsigned_abs())
    }
}
