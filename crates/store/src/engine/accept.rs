//! Acceptance: an operation is stored with its input, its data and its first journal entry.
//!
//! The race that must not happen: an operation that waits behind nothing. A transaction that stores a waiting
//! operation has locked the rows it waits behind, so a transaction that ends one of them comes before (and is
//! seen as ended) or after (and, with a fresh snapshot, sees the new one and admits it). Who finds
//! nothing unfinished needs no lock: the unique index lets only one such operation in, and the loser
//! takes the long way.

use ::engine::{
    PlantedBug, State,
    storage::{Acceptance, Cancel, NewOperation, OperationId, Pairs, Unfinished, Verdict, Wake},
};
use sqlx_macros::FromRow;
use uuid::Uuid;

use super::{EngineStore, rows};
use crate::{Connection, Error, Transaction, database::Backend, sql::sql};

/// How often the long way is tried again when others keep coming in between.
const TRIES: usize = 20;

const ONE_AT_A_TIME: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";

sql!(UNFINISHED = "
    SELECT id, kind, state, due_at IS NOT NULL AS admitted, digest,
           cancel_state IS NOT NULL AS canceling
    FROM operations WHERE instance = $1 AND ended_at IS NULL
    ORDER BY created_at, id" wait);

// $9: admitted at once. $11: only if nothing of the instance is unfinished.
const STORE_POSTGRES: &str = "
    WITH accepted AS (
        INSERT INTO operations (id, root, instance, kind, data_version, lane, state, closed,
                                journal, due_at, digest, created_at, updated_at)
        SELECT $2, $3, $4, $5, $6, $7, 'pending', $8, 1,
               CASE WHEN $9 THEN GREATEST(COALESCE($1, statement_timestamp()), (
                   SELECT max(g.step_gone_at) FROM operations g
                   WHERE g.instance = $4 AND g.step_gone_at IS NOT NULL)) END, $10,
               COALESCE($1, statement_timestamp()), COALESCE($1, statement_timestamp())
        WHERE NOT ($11 AND EXISTS (
            SELECT 1 FROM operations WHERE instance = $4 AND ended_at IS NULL))
        ON CONFLICT DO NOTHING
        RETURNING id, created_at
    ), input AS (
        INSERT INTO operation_inputs (operation_id, input) SELECT id, $12 FROM accepted
    ), data AS (
        INSERT INTO operation_data (operation_id, data) SELECT id, $13 FROM accepted
    ), noted AS (
        INSERT INTO runs (operation_id, seq, event, epoch, began_at, ended_at, state)
        SELECT id, 1, 'accepted', 0, created_at, created_at, 'pending' FROM accepted
    )
    SELECT count(*) FROM accepted";

const STORE_SQLITE: &str = "
    INSERT INTO operations (id, root, instance, kind, data_version, lane, state, closed, journal,
                            due_at, digest, created_at, updated_at)
    SELECT $2, $3, $4, $5, $6, $7, 'pending', $8, 1,
           CASE WHEN $9 THEN max($1, COALESCE((
               SELECT max(g.step_gone_at) FROM operations g
               WHERE g.instance = $4 AND g.step_gone_at IS NOT NULL), $1)) END, $10, $1, $1
    WHERE NOT ($11 AND EXISTS (
        SELECT 1 FROM operations WHERE instance = $4 AND ended_at IS NULL))
    ON CONFLICT DO NOTHING
    RETURNING id";
const INPUT_SQLITE: &str = "INSERT INTO operation_inputs (operation_id, input) VALUES ($1, $2)";
const DATA_SQLITE: &str = "INSERT INTO operation_data (operation_id, data) VALUES ($1, $2)";
const NOTED_SQLITE: &str = "
    INSERT INTO runs (operation_id, seq, event, epoch, began_at, ended_at, state)
    VALUES ($1, 1, 'accepted', 0, $2, $2, 'pending')";

const EXISTS: &str = "SELECT count(*) FROM operations WHERE id = $1";

/// A new operation, and what it has of the one it continues.
pub(super) struct Candidate {
    pub(super) new: NewOperation,
    pub(super) root: OperationId,
    pub(super) closed: Vec<String>,
}

#[derive(FromRow)]
struct UnfinishedRow {
    id: Uuid,
    kind: String,
    state: String,
    admitted: bool,
    digest: Option<Vec<u8>>,
    canceling: bool,
}

/// How a candidate is to be stored.
#[derive(Clone, Copy)]
struct AcceptMode {
    admitted: bool,
    only_alone: bool,
}

impl AcceptMode {
    /// Nothing is before it, or it is not stored.
    const ALONE: Self = Self { admitted: true, only_alone: true };
}

impl EngineStore {
    /// Accepts an operation in a transaction of the caller's, beside the caller's own rows.
    pub async fn accept_in(
        &self,
        transaction: &mut Transaction,
        new: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, Error> {
        let root = new.id;
        let candidate = Candidate { new, root, closed: Vec::new() };
        self.decide_in(transaction, &candidate, pairs).await
    }

    /// Accepts in the short way if it is open, and in a transaction otherwise.
    pub(super) async fn accept_candidate(
        &self,
        candidate: &Candidate,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, Error> {
        if self.store_alone(candidate, pairs).await? {
            return Ok(Acceptance::Started);
        }
        let mut transaction = self.database.begin().await?;
        let acceptance = self.decide_in(&mut transaction, candidate, pairs).await?;
        transaction.commit().await?;
        Ok(acceptance)
    }

    /// Whether the short way is open: nothing unfinished, and nothing to say about that.
    async fn store_alone(&self, candidate: &Candidate, pairs: &Pairs<'_>) -> Result<bool, Error> {
        let Backend::Postgres(pool) = self.database.writer() else { return Ok(false) };
        if pairs(&[]) != Verdict::Queue {
            return Ok(false);
        }
        let mut connection = pool.acquire().await?;
        let connection = Backend::Postgres(&mut *connection);
        let stored = self.store(connection, candidate, AcceptMode::ALONE).await.map_err(alone)?;
        if stored {
            self.wakes.ring(Wake::Due);
            self.wakes.changed([(candidate.new.id, Some(candidate.new.instance.as_str()))]);
        }
        Ok(stored)
    }

    /// Decides and stores in a transaction; the hint goes out when it lands.
    pub(super) async fn decide_in(
        &self,
        transaction: &mut Transaction,
        candidate: &Candidate,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, Error> {
        let acceptance = self.decide(transaction.connection(), candidate, pairs).await?;
        if matches!(acceptance, Acceptance::Started | Acceptance::Queued) {
            let (wakes, id) = (self.wakes.clone(), candidate.new.id);
            let instance = candidate.new.instance.clone();
            transaction.afterwards(move || {
                wakes.ring(Wake::Due);
                wakes.changed([(id, Some(instance.as_str()))]);
            });
        }
        Ok(acceptance)
    }

    async fn decide(
        &self,
        mut connection: Connection<'_>,
        candidate: &Candidate,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, Error> {
        let new = &candidate.new;
        if pairs(&[]) == Verdict::Queue
            && self.store(connection.lend(), candidate, AcceptMode::ALONE).await?
        {
            return Ok(Acceptance::Started);
        }
        for _ in 0..TRIES {
            let unfinished = lock_unfinished(connection.lend(), &new.instance).await?;
            // A repetition after an answer was lost: what was stored then answers it, whatever the
            // table of pairs says about those that came since.
            let exists: i64 = on!(connection.lend(), |connection| {
                sqlx::query_scalar(EXISTS).bind(new.id).fetch_one(connection).await
            })?;
            if exists == 1 {
                return Ok(Acceptance::Same(new.id));
            }
            match pairs(&unfinished) {
                Verdict::Same(id) => return Ok(Acceptance::Same(id)),
                Verdict::Refuse(id) => return Ok(Acceptance::Refused(id)),
                Verdict::Queue => {}
                Verdict::Supersede(ids, reason) => {
                    let cancel = Cancel { state: State::Failed, reason };
                    for id in ids {
                        self.cancel_in(connection.lend(), id, &cancel).await?;
                    }
                }
            }
            let admitted = unfinished.is_empty() || self.planted.is(PlantedBug::ManyRunning);
            let way = AcceptMode { admitted, only_alone: false };
            if self.store(connection.lend(), candidate, way).await? {
                return Ok(if admitted { Acceptance::Started } else { Acceptance::Queued });
            }
            // Another one came in the short way since we looked.
        }
        Err(Error::Contended)
    }

    /// Whether it was stored: another one may have come before.
    async fn store(
        &self,
        connection: Connection<'_>,
        candidate: &Candidate,
        way: AcceptMode,
    ) -> Result<bool, Error> {
        let Candidate { new, root, closed } = candidate;
        let now = self.now();
        let input = rows::seal_input(&self.sealer, new.id, &new.input);
        let data = rows::seal_data(&self.sealer, new.id, &new.data);
        macro_rules! bound {
            ($text:expr) => {
                sqlx::query_scalar($text)
                    .bind(now)
                    .bind(new.id)
                    .bind(root)
                    .bind(&new.instance)
                    .bind(&new.kind)
                    .bind(new.data_version)
                    .bind(&new.lane)
                    .bind(closed.join(","))
                    .bind(way.admitted)
                    .bind(new.digest.as_deref())
                    .bind(way.only_alone)
            };
        }
        match connection {
            Backend::Postgres(connection) => {
                let stored: i64 =
                    bound!(STORE_POSTGRES).bind(input).bind(data).fetch_one(connection).await?;
                Ok(stored == 1)
            }
            Backend::Sqlite(connection) => {
                let stored: Option<Uuid> =
                    bound!(STORE_SQLITE).fetch_optional(&mut *connection).await?;
                if stored.is_none() {
                    return Ok(false);
                }
                for (text, sealed) in [(INPUT_SQLITE, input), (DATA_SQLITE, data)] {
                    sqlx::query(text).bind(new.id).bind(sealed).execute(&mut *connection).await?;
                }
                sqlx::query(NOTED_SQLITE).bind(new.id).bind(now).execute(connection).await?;
                Ok(true)
            }
        }
    }
}

/// Outside a transaction, the statement that stores is the one that makes it permanent.
fn alone(error: Error) -> Error {
    if let Error::Database(error) = error { Error::writing(error) } else { error }
}

/// The unfinished operations of an instance, oldest first, which nobody can end from here on.
async fn lock_unfinished(
    mut connection: Connection<'_>,
    instance: &str,
) -> Result<Vec<Unfinished>, Error> {
    if let Backend::Postgres(connection) = &mut connection {
        // In a statement of its own, so that the next one sees what was accepted meanwhile.
        sqlx::query(ONE_AT_A_TIME).bind(instance).execute(&mut **connection).await?;
    }
    let found: Vec<UnfinishedRow> = on!(connection, UNFINISHED, |text, connection| {
        sqlx::query_as(text).bind(instance).fetch_all(connection).await
    })?;
    found
        .into_iter()
        .map(|row| {
            Ok(Unfinished {
                id: row.id,
                kind: row.kind,
                state: rows::word(&row.state)?,
                admitted: row.admitted,
                digest: row.digest,
                canceling: row.canceling,
            })
        })
        .collect()
}
