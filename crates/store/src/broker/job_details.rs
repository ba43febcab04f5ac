//! The details of runs of jobs for which their reports have no room.
//!
//! What a reader would get wrong: they are written before the page that they are of is. A page that is repeated writes the same numbers again,
//! and what it does not write any more is behind the count in the report.

use std::ops::Range;

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::BrokerStore;
use crate::{Error, Moment, sql::Text};

const ADD: Text = Text {
    postgres: "
        INSERT INTO job_details (operation_id, number, item, outcome, text)
        SELECT $1, given.number, given.item, given.outcome, given.text
        FROM jsonb_to_recordset($2::jsonb) AS given (number bigint, item text, outcome text, text text)
        ON CONFLICT (operation_id, number) DO UPDATE
        SET item = excluded.item, outcome = excluded.outcome, text = excluded.text",
    sqlite: "
        INSERT INTO job_details (operation_id, number, item, outcome, text)
        SELECT $1, value ->> 'number', value ->> 'item', value ->> 'outcome', value ->> 'text'
        FROM json_each($2) WHERE true
        ON CONFLICT (operation_id, number) DO UPDATE
        SET item = excluded.item, outcome = excluded.outcome, text = excluded.text",
};
const LIST: &str = "
    SELECT number, item, outcome, text FROM job_details
    WHERE operation_id = $1 AND number >= $2 AND number < $3 ORDER BY operation_id, number LIMIT $4";
const NOTED: Text = Text {
    postgres: "
        SELECT item FROM job_details WHERE operation_id = $1 AND number < $2
          AND item IN (SELECT value FROM jsonb_array_elements_text($3::jsonb) AS given (value))",
    sqlite: "
        SELECT item FROM job_details WHERE operation_id = $1 AND number < $2
          AND item IN (SELECT value FROM json_each($3))",
};
// Those of runs that ended before $2, without the newest run. $3: how many at most.
const FORGET: &str = "
    DELETE FROM job_details WHERE (operation_id, number) IN (
        SELECT old.operation_id, old.number FROM operations JOIN job_details old ON old.operation_id = operations.id
        WHERE operations.instance = $1 AND operations.ended_at < $2
          AND EXISTS (SELECT 1 FROM operations newer WHERE newer.instance = $1
              AND (newer.created_at, newer.id) > (operations.created_at, operations.id))
        LIMIT $3)";

/// Every statement; where no index is named they go by the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(LIST, ""), (FORGET, "operations_of_instance")];
#[cfg(test)]
pub(super) const LISTS: &[(Text, &str)] = &[(ADD, ""), (NOTED, "")];

/// A detail to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDetail {
    /// The instance, Shoot, binding or account.
    pub item: String,
    /// The word for what became of it.
    pub outcome: String,
    pub text: String,
}

/// A detail with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedDetail {
    pub number: u64,
    pub detail: StoredDetail,
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    number: i64,
    item: String,
    outcome: String,
    text: String,
}

impl From<Row> for NumberedDetail {
    fn from(row: Row) -> Self {
        let Row { number, item, outcome, text } = row;
        Self { number: number.unsigned_abs(), detail: StoredDetail { item, outcome, text } }
    }
}

impl BrokerStore {
    /// Stores details of a run, the first of them under this number.
    pub async fn add_job_details(
        &self,
        run: Uuid,
        first: u64,
        details: &[StoredDetail],
    ) -> Result<(), Error> {
        let row = |(number, it): (u64, &StoredDetail)| {
            // No database keeps this character.
            let [item, text] = [&it.item, &it.text].map(|text| text.replace('\0', ""));
            json!({"number": number, "item": item, "outcome": it.outcome, "text": text})
        };
        let rows = (first..).zip(details).map(row).collect::<serde_json::Value>().to_string();
        on!(self.database().writer(), ADD, |text, pool| {
            sqlx::query(text).bind(run).bind(rows).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }

    /// The details of a run from one number on and before another, at most `most` of them.
    pub async fn job_details(
        &self,
        run: Uuid,
        numbers: Range<u64>,
        most: u32,
    ) -> Result<Vec<NumberedDetail>, Error> {
        let found: Vec<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(LIST)
                .bind(run)
                .bind(as_stored(numbers.start))
                .bind(as_stored(numbers.end))
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
        })?;
        Ok(found.into_iter().map(NumberedDetail::from).collect())
    }

    /// Which of these items a run has a detail of before this number.
    pub async fn noted_items(
        &self,
        run: Uuid,
        before: u64,
        items: &[String],
    ) -> Result<Vec<String>, Error> {
        let items = json!(items).to_string();
        let found = on!(self.database().reader(), NOTED, |text, pool| {
            sqlx::query_scalar(text)
                .bind(run)
                .bind(as_stored(before))
                .bind(items)
                .fetch_all(pool)
                .await
        })?;
        Ok(found)
    }

    /// Deletes at most `most` details of runs of a job that ended before `before`, but none of the newest run; how many.
    pub async fn forget_job_details(
        &self,
        instance: &str,
        before: Timestamp,
        most: u32,
    ) -> Result<u64, Error> {
        let before = Moment::from(before);
        on!(self.database().writer(), |pool| {
            sqlx::query(FORGET)
                .bind(instance)
                .bind(before)
                .bind(i64::from(most))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)
    }
}

fn as_stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
