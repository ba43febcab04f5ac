//! What ended operations come to: how their steps went by the hour, how they ended by the day (`docs/decisions/0140`).
//!
//! What a reader would get wrong: nothing is added while steps run. Ended operations are added a moment later, some at a time, by the
//! transaction that marks them as counted; whichever replica does it, each is added once.

mod of_journal;

use std::collections::BTreeMap;

use ::engine::{State, storage::Entry};
use jiff::Timestamp;
use serde::Serialize;
use sqlx_macros::FromRow;
use uuid::Uuid;

pub use self::of_journal::{NOT_COMPLETED, bucket_time};
use self::of_journal::{StepRuns, bucket_of};
use super::{
    EngineStore,
    read::{self, EntryOf, JOURNALS_POSTGRES, JOURNALS_SQLITE},
    rows,
};
use crate::{
    Connection, Error, Moment,
    database::Backend,
    sql::{Text, ids, sql},
};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

// Asked first: most of the time there is nothing to be written.
const ANY: &str = "
    SELECT 1 FROM operations WHERE ended_at IS NOT NULL AND NOT counted ORDER BY ended_at LIMIT 1";
sql!(MARK = "
    UPDATE operations SET counted = true
    WHERE id IN (
        SELECT id FROM operations WHERE ended_at IS NOT NULL AND NOT counted
        ORDER BY ended_at LIMIT $1" skip ")
    RETURNING id, kind, state, created_at, started_at, ended_at");
sql!(INPUTS = "
    SELECT operation_id, input FROM operation_inputs WHERE " (any_id "operation_id" "$1"));
// The rows come sorted, so that replicas that add at once wait for each other in one order.
const ADD_STEPS: Text = Text {
    postgres: "
    INSERT INTO step_sums AS s (hour, kind, step, bucket, operations, runs, failures, retries)
    SELECT (value ->> 0)::bigint, value ->> 1, value ->> 2, (value ->> 3)::bigint, (value ->> 4)::bigint,
           (value ->> 5)::bigint, (value ->> 6)::bigint, (value ->> 7)::bigint
    FROM jsonb_array_elements($1::jsonb) AS given (value) WHERE true
    ON CONFLICT (hour, kind, step, bucket) DO UPDATE
    SET operations = s.operations + excluded.operations, runs = s.runs + excluded.runs,
        failures = s.failures + excluded.failures, retries = s.retries + excluded.retries",
    sqlite: "
    INSERT INTO step_sums AS s (hour, kind, step, bucket, operations, runs, failures, retries)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7
    FROM json_each($1) WHERE true
    ON CONFLICT (hour, kind, step, bucket) DO UPDATE
    SET operations = s.operations + excluded.operations, runs = s.runs + excluded.runs,
        failures = s.failures + excluded.failures, retries = s.retries + excluded.retries",
};
const ADD_ENDED: Text = Text {
    postgres: "
    INSERT INTO ended_sums AS s (day, kind, plan, succeeded, failed, canceled)
    SELECT (value ->> 0)::bigint, value ->> 1, value ->> 2, (value ->> 3)::bigint, (value ->> 4)::bigint,
           (value ->> 5)::bigint
    FROM jsonb_array_elements($1::jsonb) AS given (value) WHERE true
    ON CONFLICT (day, kind, plan) DO UPDATE
    SET succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
        canceled = s.canceled + excluded.canceled",
    sqlite: "
    INSERT INTO ended_sums AS s (day, kind, plan, succeeded, failed, canceled)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5
    FROM json_each($1) WHERE true
    ON CONFLICT (day, kind, plan) DO UPDATE
    SET succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
        canceled = s.canceled + excluded.canceled",
};
// Added up there: the hours of a week are more rows than an answer needs.
const STEPS: &str = "
    SELECT kind, step, bucket, CAST(sum(operations) AS bigint) AS operations, CAST(sum(runs) AS bigint) AS runs,
        CAST(sum(failures) AS bigint) AS failures, CAST(sum(retries) AS bigint) AS retries
    FROM step_sums WHERE hour >= $1 GROUP BY kind, step, bucket";
const ENDED: &str = "
    SELECT day, kind, plan, succeeded, failed, canceled FROM ended_sums
    WHERE day >= $1 ORDER BY day, kind, plan";
const FORGET_STEPS: &str = "DELETE FROM step_sums WHERE hour < $1";
const FORGET_ENDED: &str = "DELETE FROM ended_sums WHERE day < $1";

/// Every statement, with the index it goes by where that is not the primary key; but for the sums of steps, which are grouped and
/// therefore sorted.
#[cfg(test)]
pub(crate) const TEXTS: &[(&str, &str)] =
    &[(ANY, "operations_to_count"), (ENDED, ""), (FORGET_STEPS, ""), (FORGET_ENDED, "")];
#[cfg(test)]
pub(crate) const LISTS: &[(Text, &str)] =
    &[(MARK, "operations_to_count"), (INPUTS, ""), (ADD_STEPS, ""), (ADD_ENDED, "")];

/// How a step went in the operations that ended within some time, of which it took about the same time.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct StepSum {
    /// The kind of operation.
    pub kind: String,
    /// The step; empty for operations as a whole.
    pub step: String,
    /// How long it took, as [`bucket_time`] tells; [`NOT_COMPLETED`] when it was not completed.
    pub bucket: i64,
    /// In how many operations.
    pub operations: i64,
    /// How often it ran.
    pub runs: i64,
    /// How many of its runs failed.
    pub failures: i64,
    /// How many of those were followed by another try.
    pub retries: i64,
}

/// How operations of a kind and plan ended on a day.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct EndedSum {
    /// The day since 1970.
    pub day: i64,
    /// The kind of operation.
    pub kind: String,
    /// The plan; empty where there is none.
    pub plan: String,
    /// How many succeeded.
    pub succeeded: i64,
    /// How many failed.
    pub failed: i64,
    /// How many were canceled.
    pub canceled: i64,
}

/// Reads the plan from what an operation was asked to do.
pub type PlanOf = fn(&[u8]) -> Option<String>;

#[derive(FromRow)]
struct EndedOperationRow {
    id: Uuid,
    kind: String,
    state: String,
    created_at: Moment,
    started_at: Option<Moment>,
    ended_at: Moment,
}

#[derive(FromRow)]
struct InputRow {
    operation_id: Uuid,
    input: Vec<u8>,
}

/// Hour, kind, step, bucket.
type StepKey = (i64, String, String, i64);
/// Day, kind, plan.
type EndedKey = (i64, String, String);

/// The sums of a batch of operations.
#[derive(Default)]
struct Sums {
    /// Operations, runs, failures, retries.
    steps: BTreeMap<StepKey, [i64; 4]>,
    /// Succeeded, failed, canceled.
    ended: BTreeMap<EndedKey, [i64; 3]>,
}

impl EngineStore {
    /// Adds at most `most` ended operations that are not counted yet; how many.
    pub async fn count_ended(&self, most: u32, plan_of: PlanOf) -> Result<usize, Error> {
        let any: Option<i32> = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(ANY).fetch_optional(pool).await
        })?;
        if any.is_none() {
            return Ok(0);
        }
        let mut transaction = self.database().begin().await?;
        let marked: Vec<EndedOperationRow> =
            on!(transaction.connection(), MARK, |text, connection| {
                sqlx::query_as(text).bind(i64::from(most)).fetch_all(connection).await
            })?;
        if marked.is_empty() {
            transaction.rollback().await?;
            return Ok(0);
        }
        let of: Vec<Uuid> = marked.iter().map(|one| one.id).collect();
        let mut journals = journals(transaction.connection(), &of).await?;
        let plans = self.plans(transaction.connection(), &of, plan_of).await?;
        let mut sums = Sums::default();
        for one in &marked {
            let journal = journals.remove(&one.id).unwrap_or_default();
            let plan = plans.get(&one.id).cloned().unwrap_or_default();
            sums.add(one, &journal, plan);
        }
        let steps: Vec<_> = sums.steps.iter().map(|(key, sums)| flat(key, sums)).collect();
        let ended: Vec<_> = sums.ended.iter().map(|(key, sums)| flat(key, sums)).collect();
        for (text, rows) in [(ADD_STEPS, steps), (ADD_ENDED, ended)] {
            let rows = rows::written(&rows)?;
            on!(transaction.connection(), text, |text, connection| {
                sqlx::query(text).bind(rows).execute(connection).await.map(drop)
            })?;
        }
        transaction.commit().await?;
        Ok(marked.len())
    }

    /// How steps went in operations that ended since the hour of this time.
    pub async fn step_sums(&self, since: Timestamp) -> Result<Vec<StepSum>, Error> {
        let hour = since.as_second().div_euclid(HOUR);
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_as(STEPS).bind(hour).fetch_all(pool).await
        })?;
        Ok(found)
    }

    /// How operations ended since the day of this time, in order.
    pub async fn ended_sums(&self, since: Timestamp) -> Result<Vec<EndedSum>, Error> {
        let day = since.as_second().div_euclid(DAY);
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_as(ENDED).bind(day).fetch_all(pool).await
        })?;
        Ok(found)
    }

    /// Deletes what is older: sums of steps, and of ended operations.
    pub async fn forget_sums(&self, steps: Timestamp, ended: Timestamp) -> Result<(), Error> {
        let (hour, day) = (steps.as_second().div_euclid(HOUR), ended.as_second().div_euclid(DAY));
        for (text, before) in [(FORGET_STEPS, hour), (FORGET_ENDED, day)] {
            on!(self.database().writer(), |pool| {
                sqlx::query(text).bind(before).execute(pool).await.map(drop)
            })
            .map_err(Error::writing)?;
        }
        Ok(())
    }

    async fn plans(
        &self,
        connection: Connection<'_>,
        of: &[Uuid],
        plan_of: PlanOf,
    ) -> Result<BTreeMap<Uuid, String>, Error> {
        let inputs: Vec<InputRow> = on!(connection, INPUTS, |text, connection| {
            sqlx::query_as(text).bind(ids(of)).fetch_all(connection).await
        })?;
        let mut plans = BTreeMap::new();
        for InputRow { operation_id, input } in inputs {
            // What cannot be read has no plan: it must not keep all others from being counted.
            let input = rows::open_input(self.sealer(), operation_id, &input).ok();
            let plan = input.and_then(|input| plan_of(&input));
            plans.extend(plan.map(|plan| (operation_id, plan)));
        }
        Ok(plans)
    }
}

async fn journals(
    connection: Connection<'_>,
    of: &[Uuid],
) -> Result<BTreeMap<Uuid, Vec<Entry>>, Error> {
    let found: Vec<EntryOf> = match connection {
        Backend::Postgres(connection) => {
            sqlx::query_as(JOURNALS_POSTGRES).bind(of).fetch_all(connection).await?
        }
        Backend::Sqlite(connection) => {
            let of = read::listed(of.iter())?;
            sqlx::query_as(JOURNALS_SQLITE).bind(of).fetch_all(connection).await?
        }
    };
    let mut journals: BTreeMap<Uuid, Vec<Entry>> = BTreeMap::new();
    for EntryOf { operation_id, entry } in found {
        // A newer program may have written words that this one does not know.
        journals.entry(operation_id).or_default().extend(Entry::try_from(entry));
    }
    Ok(journals)
}

impl Sums {
    fn add(&mut self, one: &EndedOperationRow, journal: &[Entry], plan: String) {
        // A newer program may have ended it in a way that this one has no word for.
        let Ok(state) = rows::word(&one.state) else { return };
        let ended_at = Timestamp::from(one.ended_at);
        let hour = ended_at.as_second().div_euclid(HOUR);
        for (step, StepRuns { bucket, runs, failures, retries }) in of_journal::steps(journal) {
            let key = (hour, one.kind.clone(), step.to_owned(), bucket);
            let sums = self.steps.entry(key).or_default();
            for (sum, more) in sums.iter_mut().zip([1, runs, failures, retries]) {
                *sum += more;
            }
        }
        let began_at = Timestamp::from(one.started_at.unwrap_or(one.created_at));
        let succeeded = state == State::Succeeded;
        let bucket = if succeeded { bucket_of(began_at, ended_at) } else { NOT_COMPLETED };
        let whole = self.steps.entry((hour, one.kind.clone(), String::new(), bucket)).or_default();
        whole[0] += 1;
        whole[2] += i64::from(state == State::Failed);
        let key = (hour.div_euclid(24), one.kind.clone(), plan);
        let at = match state {
            State::Failed => 1,
            State::Canceled => 2,
            _ => 0,
        };
        self.ended.entry(key).or_default()[at] += 1;
    }
}

/// Key and sums as one list.
fn flat(key: &impl Serialize, sums: &impl Serialize) -> serde_json::Value {
    let parts = [serde_json::json!(key), serde_json::json!(sums)];
    let flat = parts.into_iter().flat_map(|part| part.as_array().cloned().unwrap_or_default());
    flat.collect::<Vec<_>>().into()
}
