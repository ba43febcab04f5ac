//! What was sent to the provisioner and the Reconciler: a record of each time, never changed, gone with
//! the instance.

use std::fmt;

use base::failure::chain;
use jiff::Timestamp;
use tracing::error;
use uuid::Uuid;

use super::BrokerStore;
use crate::{
    Connection, Error, Moment, SealLocation, Sealer,
    sql::{Text, ids, sql},
};

// $3: without a runtime, it is the instance's.
const ADD: &str = "
    INSERT INTO runtime_states (id, instance, runtime_id, operation_id, holds, payload, created_at)
    SELECT $1, id, COALESCE($3, runtime_id), $4, $5, $6, $7 FROM instances
    WHERE id = $2 AND COALESCE($3, runtime_id) IS NOT NULL";

// $2: holds this.
const LATEST: &str = "
    SELECT id, instance, runtime_id, operation_id, holds, payload, created_at FROM runtime_states
    WHERE runtime_id = $1 AND COALESCE(holds LIKE '%,' || $2 || ',%', true)
    ORDER BY runtime_id DESC, created_at DESC, id DESC LIMIT 1";

// $2: sent by this operation.
const SENT_BY: &str = "
    SELECT id, instance, runtime_id, operation_id, holds, payload, created_at FROM runtime_states
    WHERE runtime_id = $1 AND operation_id = $2 AND holds LIKE '%,' || $3 || ',%'
    ORDER BY runtime_id DESC, created_at DESC, id DESC LIMIT 1";

// The newest of each runtime that holds $2.
const LATEST_OF: Text = sql!("
    SELECT id, instance, runtime_id, operation_id, holds, payload, created_at FROM runtime_states
    WHERE " (any_id "runtime_id" "$1") " AND holds LIKE '%,' || $2 || ',%'
      AND NOT EXISTS (
          SELECT 1 FROM runtime_states newer WHERE newer.runtime_id = runtime_states.runtime_id
          AND newer.holds LIKE '%,' || $2 || ',%'
          AND (newer.created_at, newer.id) > (runtime_states.created_at, runtime_states.id))");

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] =
    &[(ADD, ""), (LATEST, "runtime_states_of_runtime"), (SENT_BY, "runtime_states_of_runtime")];
#[cfg(test)]
pub(super) const LISTS: &[(Text, &str)] = &[(LATEST_OF, "runtime_states_of_runtime")];

/// A record to be kept.
#[derive(Clone)]
pub struct NewRuntimeState {
    /// The instance; the record goes with it.
    pub instance: String,
    /// The runtime.
    pub runtime: Uuid,
    /// The operation that sent it.
    pub operation: Uuid,
    /// The parts of the payload, as lower-case words with hyphens: `cluster-setup`.
    pub holds: Vec<String>,
    /// The payload that was sent.
    pub payload: Vec<u8>,
}

/// A record of what was sent.
#[derive(Clone, PartialEq, Eq)]
pub struct RuntimeState {
    pub id: Uuid,
    /// The instance.
    pub instance: String,
    /// The runtime.
    pub runtime: Uuid,
    /// The operation that sent it.
    pub operation: Uuid,
    /// The parts of the payload.
    pub holds: Vec<String>,
    /// The payload that was sent; sealed at rest.
    pub payload: Vec<u8>,
    /// When it was recorded.
    pub created_at: Timestamp,
}

/// The payload carries secrets, so it is not printed.
impl fmt::Debug for RuntimeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeState")
            .field("id", &self.id)
            .field("instance", &self.instance)
            .field("runtime", &self.runtime)
            .field("operation", &self.operation)
            .field("holds", &self.holds)
            .field("created_at", &self.created_at)
            .finish_non_exhaustive()
    }
}

/// The payload carries secrets, so it is not printed.
impl fmt::Debug for NewRuntimeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewRuntimeState")
            .field("instance", &self.instance)
            .field("runtime", &self.runtime)
            .field("operation", &self.operation)
            .field("holds", &self.holds)
            .finish_non_exhaustive()
    }
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    instance: String,
    runtime_id: Uuid,
    operation_id: Uuid,
    holds: String,
    payload: Vec<u8>,
    created_at: Moment,
}

/// The columns of a record, without its owner.
pub(super) struct StateRecord<'a> {
    pub(super) instance: &'a str,
    /// `None`: the instance's.
    pub(super) runtime: Option<Uuid>,
    pub(super) operation: Uuid,
    pub(super) holds: &'a [String],
    pub(super) payload: &'a [u8],
}

impl BrokerStore {
    /// Keeps a record, and says whether it did: of an instance that is gone, nothing is kept.
    pub async fn add_runtime_state(&self, new: &NewRuntimeState) -> Result<bool, Error> {
        let written = StateRecord {
            instance: &new.instance,
            runtime: Some(new.runtime),
            operation: new.operation,
            holds: &new.holds,
            payload: &new.payload,
        };
        let mut transaction = self.database().begin().await?;
        let now = self.clock.now().into();
        let added = add(transaction.connection(), &self.sealer, &written, now).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// The newest record of a runtime; with a word, the newest that holds it.
    pub async fn latest_runtime_state(
        &self,
        runtime: Uuid,
        holding: Option<&str>,
    ) -> Result<Option<RuntimeState>, Error> {
        if holding.is_some_and(|word| !is_word(word)) {
            return Ok(None);
        }
        let row: Option<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(LATEST).bind(runtime).bind(holding).fetch_optional(pool).await
        })?;
        row.map(|row| row.open(&self.sealer)).transpose()
    }

    /// The newest record that an operation has sent for a runtime and that holds a word.
    pub async fn runtime_state_of(
        &self,
        runtime: Uuid,
        operation: Uuid,
        holding: &str,
    ) -> Result<Option<RuntimeState>, Error> {
        if !is_word(holding) {
            return Ok(None);
        }
        let row: Option<Row> = on!(self.database().reader(), |pool| {
            let query = sqlx::query_as(SENT_BY).bind(runtime).bind(operation);
            query.bind(holding).fetch_optional(pool).await
        })?;
        row.map(|row| row.open(&self.sealer)).transpose()
    }

    /// The newest record of each of these runtimes that holds a word, in no order. What cannot be read is left out: it must not fail a
    /// page.
    pub async fn latest_runtime_states(
        &self,
        runtimes: &[Uuid],
        holding: &str,
    ) -> Result<Vec<RuntimeState>, Error> {
        if !is_word(holding) || runtimes.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = on!(self.database().reader(), LATEST_OF, |text, pool| {
            sqlx::query_as(text).bind(ids(runtimes)).bind(holding).fetch_all(pool).await
        })?;
        let opened = |row: Row| {
            let runtime = row.runtime_id;
            match row.open(&self.sealer) {
                Ok(state) => Some(state),
                Err(error) => {
                    error!(runtime.id = %runtime, error = %chain(&error), "state of a runtime cannot be read, leaving it out of a list");
                    None
                }
            }
        };
        Ok(rows.into_iter().filter_map(opened).collect())
    }
}

impl Row {
    fn open(self, sealer: &Sealer) -> Result<RuntimeState, Error> {
        let words = self.holds.split(',').filter(|word| !word.is_empty());
        Ok(RuntimeState {
            payload: sealer
                .open(SealLocation { row: &self.id.to_string(), ..PAYLOAD }, &self.payload)?,
            id: self.id,
            instance: self.instance,
            runtime: self.runtime_id,
            operation: self.operation_id,
            holds: words.map(str::to_owned).collect(),
            created_at: self.created_at.into(),
        })
    }
}

/// Whether the record was kept: the instance may be gone, or have no runtime.
pub(super) async fn add(
    connection: Connection<'_>,
    sealer: &Sealer,
    written: &StateRecord<'_>,
    now: Moment,
) -> Result<bool, Error> {
    if !written.holds.iter().all(|word| is_word(word)) {
        let why = "a runtime's state holds what is no word of small letters and hyphens";
        return Err(Error::Refused(why.into()));
    }
    let id = Uuid::now_v7();
    let holds = format!(",{},", written.holds.join(","));
    let payload = seal_payload(sealer, id, written.payload);
    let added = on!(connection, |connection| {
        sqlx::query(ADD)
            .bind(id)
            .bind(written.instance)
            .bind(written.runtime)
            .bind(written.operation)
            .bind(holds)
            .bind(payload)
            .bind(now)
            .execute(connection)
            .await
            .map(|done| done.rows_affected())
    })?;
    Ok(added == 1)
}

/// Seals what was sent.
pub(super) fn seal_payload(sealer: &Sealer, id: Uuid, payload: &[u8]) -> Vec<u8> {
    sealer.seal(SealLocation { row: &id.to_string(), ..PAYLOAD }, payload)
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

const PAYLOAD: SealLocation<'static> =
    SealLocation { table: "runtime_states", column: "payload", row: "" };
