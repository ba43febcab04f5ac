//! Orchestrations: one change over many runtimes, and how far each of them is.
//!
//! What a reader would get wrong: how far a runtime is, is written by a trigger in the transaction that changes its operation
//! (migration 0040), so that the counts are right at every moment. An orchestration is kept by one operation at a time, its
//! driver; what people ask for meanwhile (pause, cancel, other workers) is a change of the row that the driver finds.

mod counts;
mod members;
mod parameters;
mod resolving;
mod starting;

use ::engine::storage::{Acceptance, NewOperation, Verdict};
use jiff::Timestamp;
use uuid::Uuid;

pub use counts::{Count, Counts, Span};
pub use members::{Member, MemberFilter, MemberPage};
pub use parameters::Fields;
pub use resolving::{NewMember, Resolution};
pub use starting::{MemberStart, StartResult};

use super::BrokerStore;
use crate::{
    Error, Moment,
    accepted::check_instance,
    sql::{Text, list, sql},
};

macro_rules! columns {
    () => {
        "id, kind, state, description, parameters, driver, workers, paused, pause_reason, released, forgiven,
         forgiven_canaries, created_at, updated_at"
    };
}

// Whether a canary has failed, or all were canceled.
macro_rules! no_proof {
    () => {
        "EXISTS (
            SELECT 1 FROM orchestration_operations m
            WHERE m.orchestration = orchestrations.id AND m.wave = 0 AND NOT m.superseded
              AND (m.state = 'failed' OR (m.state = 'canceled' AND NOT EXISTS (
                SELECT 1 FROM orchestration_operations other
                WHERE other.orchestration = orchestrations.id AND other.wave = 0 AND NOT other.superseded
                  AND other.state <> 'canceled'))))"
    };
}
use no_proof;

const STORE: &str = "
    INSERT INTO orchestrations (id, kind, state, description, parameters, driver, workers, created_at, updated_at)
    VALUES ($1, $2, 'pending', $3, $4, $5, $6, $7, $7)";
const FIND: &str = concat!("SELECT ", columns!(), " FROM orchestrations WHERE id = $1");
const PAGE: Text = sql!(
    "SELECT id, kind, state, description, parameters, driver, workers, paused, pause_reason, released, forgiven,
            forgiven_canaries, created_at, updated_at
     FROM orchestrations WHERE (" (unset "$1") " OR " (any "state" "$1") ")
     ORDER BY created_at, id LIMIT $2 OFFSET $3"
);
const TOTAL: Text = sql!(
    "SELECT count(*) FROM orchestrations
     WHERE created_at >= $2 AND (" (unset "$1") " OR " (any "state" "$1") ")"
);
const CANCEL: &str = "
    UPDATE orchestrations
    SET state = 'canceling', description = $2, paused = false, pause_reason = NULL, updated_at = $3
    WHERE id = $1 AND state IN ('pending', 'in progress', 'retrying')";
const PAUSE: &str = "
    UPDATE orchestrations SET paused = true, pause_reason = $2, updated_at = $3
    WHERE id = $1 AND NOT paused AND state IN ('pending', 'in progress', 'retrying')";
// The operator who resumes accepts the failures so far, and that all canaries were canceled: they do not pause it again.
const RESUME: &str = concat!(
    "UPDATE orchestrations
    SET paused = false, pause_reason = NULL, updated_at = $2, released = released OR ",
    no_proof!(),
    ",
        forgiven = (
            SELECT count(*) FROM orchestration_operations m
            WHERE m.orchestration = orchestrations.id AND m.state = 'failed' AND NOT m.superseded),
        forgiven_canaries = (
            SELECT count(*) FROM orchestration_operations m
            WHERE m.orchestration = orchestrations.id AND m.state = 'failed' AND m.wave = 0 AND NOT m.superseded)
    WHERE id = $1 AND paused AND state IN ('pending', 'in progress', 'retrying')"
);
const FINISH: &str = "
    UPDATE orchestrations SET state = $3, paused = false, pause_reason = NULL, updated_at = $4
    WHERE id = $1 AND driver = $2 AND state IN ('pending', 'in progress', 'retrying', 'canceling')";
const OF_OPERATION: &str =
    "SELECT orchestration FROM orchestration_operations WHERE operation_id = $1";

/// Every statement with the index it goes by, where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (STORE, ""),
    (FIND, ""),
    (CANCEL, ""),
    (PAUSE, ""),
    (RESUME, ""),
    (FINISH, ""),
    (OF_OPERATION, ""),
];

/// The statements about runtimes.
#[cfg(test)]
pub(super) const MEMBER_TEXTS: [&[(&str, &str)]; 4] =
    [counts::TEXTS, parameters::TEXTS, resolving::TEXTS, starting::TEXTS];

/// Every list with the index it goes by.
#[cfg(test)]
pub(super) const LISTS: &[(Text, &str)] =
    &[(PAGE, "orchestrations_by_age"), (TOTAL, "orchestrations_by_age"), members::LIST];

/// An orchestration to be stored.
#[derive(Debug, Clone)]
pub struct NewOrchestration {
    /// Its id.
    pub id: Uuid,
    /// `upgradeKyma` or `upgradeCluster`.
    pub kind: String,
    /// Its progress, for people.
    pub description: String,
    /// Its parameters: JSON.
    pub parameters: String,
    /// How many runtimes at a time.
    pub workers: i64,
}

/// An orchestration.
#[derive(Debug, Clone, PartialEq)]
pub struct Orchestration {
    /// Its id; also the instance of its drivers.
    pub id: Uuid,
    /// `upgradeKyma` or `upgradeCluster`.
    pub kind: String,
    /// How far it is.
    pub state: String,
    /// Its progress, for people.
    pub description: String,
    /// Its parameters: JSON.
    pub parameters: String,
    /// The operation that drives it, or drove it last.
    pub driver: Uuid,
    /// How many runtimes at a time.
    pub workers: i64,
    /// Whether nothing starts.
    pub paused: bool,
    /// Why not.
    pub pause_reason: Option<String>,
    /// Whether it goes on although all canaries were canceled.
    pub released: bool,
    /// How many failures do not count to the budget.
    pub forgiven: i64,
    /// How many failed canaries do not pause it.
    pub forgiven_canaries: i64,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    kind: String,
    state: String,
    description: String,
    parameters: String,
    driver: Uuid,
    workers: i64,
    paused: bool,
    pause_reason: Option<String>,
    released: bool,
    forgiven: i64,
    forgiven_canaries: i64,
    created_at: Moment,
    updated_at: Moment,
}

impl From<Row> for Orchestration {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            kind: row.kind,
            state: row.state,
            description: row.description,
            parameters: row.parameters,
            driver: row.driver,
            workers: row.workers,
            paused: row.paused,
            pause_reason: row.pause_reason,
            released: row.released,
            forgiven: row.forgiven,
            forgiven_canaries: row.forgiven_canaries,
            created_at: row.created_at.into(),
            updated_at: row.updated_at.into(),
        }
    }
}

/// Binds the values, and says whether a row was changed.
macro_rules! changed {
    ($store:expr, $text:expr, $($value:expr),+) => {{
        let changed = on!($store.database().writer(), |pool| {
            sqlx::query($text)$(.bind($value))+.execute(pool).await.map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok(changed == 1)
    }};
}
use changed;

impl BrokerStore {
    /// Stores an orchestration with its first driver in one transaction. Repeated with the same ids it stores nothing more.
    pub async fn create_orchestration(
        &self,
        new: &NewOrchestration,
        driver: NewOperation,
    ) -> Result<(), Error> {
        check_instance(&new.id.to_string(), "orchestration", &driver)?;
        let id = driver.id;
        let mut transaction = self.database().begin().await?;
        let accepted = self.engine.accept_in(&mut transaction, driver, &|_| Verdict::Queue).await?;
        if matches!(accepted, Acceptance::Same(_)) {
            return transaction.rollback().await;
        }
        let now = Moment::from(self.clock.now());
        on!(transaction.connection(), |connection| {
            sqlx::query(STORE)
                .bind(new.id)
                .bind(&new.kind)
                .bind(&new.description)
                .bind(&new.parameters)
                .bind(id)
                .bind(new.workers)
                .bind(now)
                .execute(connection)
                .await
                .map(drop)
        })?;
        transaction.commit().await
    }

    /// One orchestration.
    pub async fn orchestration(&self, id: Uuid) -> Result<Option<Orchestration>, Error> {
        let found: Option<Row> = on!(self.database().writer(), |pool| {
            sqlx::query_as(FIND).bind(id).fetch_optional(pool).await
        })?;
        Ok(found.map(Orchestration::from))
    }

    /// A page of orchestrations, oldest first, and how many there are on all pages; in these states, or in any.
    pub async fn orchestrations(
        &self,
        states: &[String],
        skip: u32,
        most: u32,
    ) -> Result<(Vec<Orchestration>, u64), Error> {
        let states = (!states.is_empty()).then(|| list(states));
        let rows: Vec<Row> = on!(self.database().reader(), PAGE, |text, pool| {
            let query = sqlx::query_as(text).bind(states.clone());
            query.bind(i64::from(most)).bind(i64::from(skip)).fetch_all(pool).await
        })?;
        let total: i64 = on!(self.database().reader(), TOTAL, |text, pool| {
            let query = sqlx::query_scalar(text).bind(states);
            query.bind(Moment::from(Timestamp::UNIX_EPOCH)).fetch_one(pool).await
        })?;
        Ok((rows.into_iter().map(Orchestration::from).collect(), total.unsigned_abs()))
    }

    /// Asks an orchestration to start nothing more and to end. `false` when it has ended, or was asked before.
    pub async fn cancel_orchestration(&self, id: Uuid, description: &str) -> Result<bool, Error> {
        changed!(self, CANCEL, id, description, Moment::from(self.clock.now()))
    }

    /// Starts nothing more until it is resumed. `false` when it is paused or has ended.
    pub async fn pause_orchestration(&self, id: Uuid, reason: &str) -> Result<bool, Error> {
        changed!(self, PAUSE, id, reason, Moment::from(self.clock.now()))
    }

    /// Goes on, whatever has failed so far. `false` when it is not paused.
    pub async fn resume_orchestration(&self, id: Uuid) -> Result<bool, Error> {
        changed!(self, RESUME, id, Moment::from(self.clock.now()))
    }

    /// Ends an orchestration in a state. `false` when another driver has it, or it has ended.
    pub async fn finish_orchestration(
        &self,
        id: Uuid,
        driver: Uuid,
        state: &str,
    ) -> Result<bool, Error> {
        changed!(self, FINISH, id, driver, state, Moment::from(self.clock.now()))
    }

    /// The orchestration that an operation belongs to.
    pub async fn orchestration_of(&self, operation: Uuid) -> Result<Option<Uuid>, Error> {
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(OF_OPERATION).bind(operation).fetch_optional(pool).await
        })?;
        Ok(found)
    }
}
