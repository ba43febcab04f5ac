//! The claim on SQLite: one write transaction, and none at all when nothing is due.

use ::engine::storage::ClaimRequest;
use sqlx::SqliteConnection;
use sqlx_macros::FromRow;
use uuid::Uuid;

use super::{ClaimedOperation, EngineStore, FEW, Grant, MOST_LANES};
use crate::{
    Error, Moment,
    database::Backend,
    engine::{
        read::listed,
        rows::{self, OperationRow, columns},
    },
};

const NEXT_DUE: &str = "
    SELECT (SELECT min(due_at) FROM operations
            WHERE due_at IS NOT NULL AND NOT held AND due_at <= $1) AS due,
           (SELECT min(due_at) FROM operations
            WHERE due_at IS NOT NULL AND NOT held AND due_at > $1) AS next";

const LIVES: &str = "SELECT count(*) FROM replicas WHERE id = $2 AND lease_until > $1";

const FEW_LANES: &str = "
    SELECT lane FROM operations
    WHERE due_at IS NOT NULL AND NOT held AND due_at <= $1 ORDER BY due_at LIMIT $2";

// Steps from lane to lane: first those after $2, then the others. $3 is how many will do.
const MANY_LANES: &str = "
    WITH RECURSIVE onward(lane) AS (
        SELECT (SELECT o.lane FROM operations o
                WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane > $2 ORDER BY o.lane LIMIT 1)
        UNION ALL
        SELECT (SELECT o.lane FROM operations o
                WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane > l.lane
                ORDER BY o.lane LIMIT 1)
        FROM onward l WHERE l.lane IS NOT NULL
    ), around(lane) AS (
        SELECT (SELECT o.lane FROM operations o
                WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane <= $2 ORDER BY o.lane LIMIT 1)
        UNION ALL
        SELECT (SELECT o.lane FROM operations o
                WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane > l.lane AND o.lane <= $2
                ORDER BY o.lane LIMIT 1)
        FROM around l WHERE l.lane IS NOT NULL
    )
    SELECT l.lane FROM (SELECT lane FROM onward UNION ALL SELECT lane FROM around) l
    WHERE l.lane NOT IN (SELECT value FROM json_each($4)) AND EXISTS (
        SELECT 1 FROM operations o
        WHERE o.lane = l.lane AND o.due_at IS NOT NULL AND NOT o.held AND o.due_at <= $1)
    LIMIT $3";

// $1 time, $2 replica, $3 lane, $4 share, $5 known kinds, $6 any kind.
const PICK: &str = concat!(
    "SELECT ",
    columns!(),
    ", i.input, d.data FROM operations o
     JOIN operation_inputs i ON i.operation_id = o.id
     JOIN operation_data d ON d.operation_id = o.id
     WHERE o.id IN (
         SELECT p.id FROM operations p
         WHERE p.lane = $3 AND p.due_at IS NOT NULL AND NOT p.held AND p.due_at <= $1
           AND (p.owner IS NULL OR p.owner = $2
                OR p.owner NOT IN (SELECT id FROM replicas WHERE lease_until > $1))
           AND ($6 OR EXISTS (
                SELECT 1 FROM json_each($5) k
                WHERE k.value ->> 0 = p.kind AND p.data_version <= k.value ->> 1))
         ORDER BY p.due_at LIMIT $4)"
);

const TAKE: &str = "
    UPDATE operations
    SET epoch = epoch + (owner IS NOT $2), journal = journal + ($4 AND owner IS NOT $2),
        owner = $2, held = true, awaits = NULL, updated_at = $1
    WHERE id IN (SELECT unhex(value) FROM json_each($3))";

const NOTE: &str = "
    INSERT INTO runs (operation_id, seq, event, epoch, replica, began_at, ended_at, state,
                      then_stage, then_step)
    SELECT id, journal, 'taken', epoch, owner, updated_at, updated_at, state, stage, step
    FROM operations WHERE id IN (SELECT unhex(value) FROM json_each($1))";

#[derive(FromRow)]
struct PickedRow {
    #[sqlx(flatten)]
    operation: OperationRow,
    input: Vec<u8>,
    data: Vec<u8>,
}

impl EngineStore {
    pub(super) async fn grant_on_sqlite(&self, ask: &ClaimRequest<'_>) -> Result<Grant, Error> {
        let now = self.now();
        let Backend::Sqlite(reader) = self.database.reader() else { return Ok(Grant::default()) };
        let (due, next_due): (Option<Moment>, Option<Moment>) =
            sqlx::query_as(NEXT_DUE).bind(now).fetch_one(reader).await?;
        if due.is_none() {
            return Ok(Grant { next_due, ..Grant::default() });
        }
        let mut transaction = self.database.begin().await?;
        let Backend::Sqlite(connection) = transaction.connection() else {
            return Ok(Grant::default());
        };
        let grant = self.grant_in(connection, now, next_due, ask).await?;
        transaction.commit().await?;
        Ok(grant)
    }

    async fn grant_in(
        &self,
        connection: &mut SqliteConnection,
        now: Option<Moment>,
        next_due: Option<Moment>,
        ask: &ClaimRequest<'_>,
    ) -> Result<Grant, Error> {
        let alive: i64 = sqlx::query_scalar(LIVES)
            .bind(now)
            .bind(ask.replica)
            .fetch_one(&mut *connection)
            .await?;
        if alive == 0 {
            return Ok(Grant { next_due, ..Grant::default() });
        }
        let lanes = due_lanes(connection, now, ask).await?;
        let mut grant = Grant { last_lane: lanes.last().cloned(), next_due, ..Grant::default() };
        let kinds = rows::written(&ask.kinds)?;
        for (place, lane) in lanes.iter().enumerate() {
            let share = ask.room / lanes.len() + usize::from(place < ask.room % lanes.len());
            let picked: Vec<PickedRow> = sqlx::query_as(PICK)
                .bind(now)
                .bind(ask.replica)
                .bind(lane)
                .bind(i64::try_from(share).unwrap_or(i64::MAX))
                .bind(&kinds)
                .bind(self.claims_anything())
                .fetch_all(&mut *connection)
                .await?;
            let given = picked.into_iter().map(|PickedRow { operation, input, data }| {
                ClaimedOperation { operation, input, data }
            });
            grant.given.extend(given);
        }
        self.take(connection, now, ask, &mut grant).await?;
        Ok(grant)
    }

    async fn take(
        &self,
        connection: &mut SqliteConnection,
        now: Option<Moment>,
        ask: &ClaimRequest<'_>,
        grant: &mut Grant,
    ) -> Result<(), Error> {
        let recorded = self.records_takeovers();
        sqlx::query(TAKE)
            .bind(now)
            .bind(ask.replica)
            .bind(listed(grant.given.iter().map(|given| &given.operation.id))?)
            .bind(recorded)
            .execute(&mut *connection)
            .await?;
        let mut new: Vec<Uuid> = Vec::new();
        for ClaimedOperation { operation, .. } in &mut grant.given {
            if operation.owner != Some(ask.replica) {
                new.push(operation.id);
                operation.epoch += 1;
                operation.journal += i64::from(recorded);
                operation.owner = Some(ask.replica);
            }
            operation.held = true;
        }
        if recorded && !new.is_empty() {
            sqlx::query(NOTE).bind(listed(new.iter())?).execute(connection).await?;
        }
        Ok(())
    }
}

/// The lanes with due work, in circular order after the one that was served last.
async fn due_lanes(
    connection: &mut SqliteConnection,
    now: Option<Moment>,
    ask: &ClaimRequest<'_>,
) -> Result<Vec<String>, Error> {
    let most = ask.room.min(usize::try_from(MOST_LANES).unwrap_or(usize::MAX));
    let few: Vec<String> =
        sqlx::query_scalar(FEW_LANES).bind(now).bind(FEW).fetch_all(&mut *connection).await?;
    let crowded = |lane: &String| ask.crowded.contains(lane);
    if few.len() < usize::try_from(FEW).unwrap_or(usize::MAX) {
        let mut lanes: Vec<String> = few.into_iter().filter(|lane| !crowded(lane)).collect();
        lanes.sort_by(|a, b| {
            let around = |lane: &str| lane <= ask.after_lane;
            (around(a), a).cmp(&(around(b), b))
        });
        lanes.dedup();
        lanes.truncate(most);
        return Ok(lanes);
    }
    let lanes = sqlx::query_scalar(MANY_LANES)
        .bind(now)
        .bind(ask.after_lane)
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .bind(rows::written(&ask.crowded)?)
        .fetch_all(connection)
        .await?;
    Ok(lanes)
}
