//! The claim on PostgreSQL: one statement, one round trip.

use ::engine::storage::ClaimRequest;
use sqlx::{FromRow, PgPool, Row as _};
use uuid::Uuid;

use super::{ClaimedOperation, EngineStore, FEW, Grant, MOST_LANES};
use crate::{
    Error,
    engine::rows::{OperationRow, columns},
};

// $1 time, $2 replica, $3 room, $4 after this lane, $5 crowded lanes, $6 and $7 kinds and versions,
// $8 any kind, $9 takeovers are recorded, $10 what counts as few, $11 most lanes.
//
// few      what is due, as far as a quick look goes
// onward   every lane after the given one, found by stepping; only if there was more than few
// around   the same from the first lane up to the given one
// chosen   the lanes with due work, in circular order, each with its share of the room
// picked   the operations, locked
//
// `was` is the owner in the version of the row that was locked. The outer SELECT still sees the rows
// as they were when the statement began: a serial that differs there says that the data beside it is
// of the past as well.
const CLAIM: &str = concat!(
    "
    WITH RECURSIVE few AS MATERIALIZED (
        SELECT lane FROM operations
        WHERE due_at IS NOT NULL AND NOT held AND due_at <= COALESCE($1, statement_timestamp())
        ORDER BY due_at LIMIT $10
    ), many AS MATERIALIZED (
        SELECT count(*) >= $10 AS yes FROM few
    ), onward AS (
        (SELECT o.lane FROM operations o
         WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane > $4 AND (SELECT yes FROM many)
         ORDER BY o.lane LIMIT 1)
        UNION ALL
        SELECT (SELECT o.lane FROM operations o
                WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane > l.lane
                ORDER BY o.lane LIMIT 1)
        FROM onward l WHERE l.lane IS NOT NULL
    ), around AS (
        (SELECT o.lane FROM operations o
         WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane <= $4 AND (SELECT yes FROM many)
         ORDER BY o.lane LIMIT 1)
        UNION ALL
        SELECT (SELECT o.lane FROM operations o
                WHERE o.due_at IS NOT NULL AND NOT o.held AND o.lane > l.lane AND o.lane <= $4
                ORDER BY o.lane LIMIT 1)
        FROM around l WHERE l.lane IS NOT NULL
    ), due_lanes AS (
        SELECT DISTINCT lane FROM few
        WHERE NOT (SELECT yes FROM many) AND lane <> ALL ($5)
        UNION ALL
        (SELECT l.lane FROM onward l
         WHERE l.lane <> ALL ($5) AND EXISTS (
             SELECT 1 FROM operations o
             WHERE o.lane = l.lane AND o.due_at IS NOT NULL AND NOT o.held
               AND o.due_at <= COALESCE($1, statement_timestamp()))
         LIMIT $11)
        UNION ALL
        (SELECT l.lane FROM around l
         WHERE l.lane <> ALL ($5) AND EXISTS (
             SELECT 1 FROM operations o
             WHERE o.lane = l.lane AND o.due_at IS NOT NULL AND NOT o.held
               AND o.due_at <= COALESCE($1, statement_timestamp()))
         LIMIT $11)
    ), chosen AS MATERIALIZED (
        SELECT lane, place, $3 / lanes + CASE WHEN place <= $3 % lanes THEN 1 ELSE 0 END AS share
        FROM (
            SELECT lane, row_number() OVER (ORDER BY lane <= $4, lane) AS place,
                   count(*) OVER () AS lanes
            FROM (SELECT lane FROM due_lanes ORDER BY lane <= $4, lane LIMIT LEAST($3, $11)) l
        ) counted
    ), picked AS MATERIALIZED (
        SELECT p.id, p.was, c.place FROM chosen c
        CROSS JOIN LATERAL (
            SELECT o.id, o.owner AS was FROM operations o
            WHERE o.lane = c.lane AND o.due_at IS NOT NULL AND NOT o.held
              AND o.due_at <= COALESCE($1, statement_timestamp())
              AND (o.owner IS NULL OR o.owner = $2 OR o.owner <> ALL (ARRAY(
                   SELECT r.id FROM replicas r
                   WHERE r.lease_until > COALESCE($1, statement_timestamp()))))
              AND ($8 OR EXISTS (
                   SELECT 1 FROM unnest($6::text[], $7::integer[]) AS known(kind, version)
                   WHERE known.kind = o.kind AND o.data_version <= known.version))
            ORDER BY o.due_at LIMIT c.share FOR UPDATE SKIP LOCKED
        ) p
        WHERE EXISTS (
            SELECT 1 FROM replicas r
            WHERE r.id = $2 AND r.lease_until > COALESCE($1, statement_timestamp()))
    ), taken AS (
        UPDATE operations o
        SET owner = $2, held = true, awaits = NULL,
            epoch = o.epoch + CASE WHEN p.was IS DISTINCT FROM $2 THEN 1 ELSE 0 END,
            journal = o.journal + CASE WHEN $9 AND p.was IS DISTINCT FROM $2 THEN 1 ELSE 0 END,
            updated_at = COALESCE($1, statement_timestamp())
        FROM picked p WHERE o.id = p.id
        RETURNING ",
    columns!(),
    ", p.was, p.place
    ), noted AS (
        INSERT INTO runs (operation_id, seq, event, epoch, replica, began_at, ended_at, state,
                          then_stage, then_step)
        SELECT t.id, t.journal, 'taken', t.epoch, $2, t.updated_at, t.updated_at, t.state,
               t.stage, t.step
        FROM taken t WHERE $9 AND t.was IS DISTINCT FROM $2
    )
    SELECT a.next_due, a.last_lane, o.*, i.input, d.data, s.serial <> o.serial AS outdated
    FROM (
        SELECT (SELECT min(due_at) FROM operations
                WHERE due_at IS NOT NULL AND NOT held
                  AND due_at > COALESCE($1, statement_timestamp())) AS next_due,
               (SELECT lane FROM chosen ORDER BY place DESC LIMIT 1) AS last_lane
    ) a
    LEFT JOIN taken o ON true
    LEFT JOIN operations s ON s.id = o.id
    LEFT JOIN operation_inputs i ON i.operation_id = o.id
    LEFT JOIN operation_data d ON d.operation_id = o.id"
);

const DATA: &str = "SELECT data FROM operation_data WHERE operation_id = $1";

impl EngineStore {
    pub(super) async fn grant_on_postgres(
        &self,
        pool: &PgPool,
        ask: &ClaimRequest<'_>,
    ) -> Result<Grant, Error> {
        let (kinds, versions): (Vec<&str>, Vec<i32>) =
            ask.kinds.iter().map(|(kind, version)| (kind.as_str(), *version)).unzip();
        let mut connection = pool.acquire().await?;
        let found = sqlx::query(CLAIM)
            .bind(self.now())
            .bind(ask.replica)
            .bind(i64::try_from(ask.room).unwrap_or(i64::MAX))
            .bind(ask.after_lane)
            .bind(ask.crowded)
            .bind(kinds)
            .bind(versions)
            .bind(self.claims_anything())
            .bind(self.records_takeovers())
            .bind(FEW)
            .bind(MOST_LANES)
            .fetch_all(&mut *connection)
            .await
            .map_err(Error::writing)?;
        let mut grant = Grant::default();
        for row in found {
            grant.next_due = row.try_get("next_due")?;
            grant.last_lane = row.try_get("last_lane")?;
            let Some(id) = row.try_get::<Option<Uuid>, _>("id")? else { continue };
            let mut data: Vec<u8> = row.try_get("data")?;
            if row.try_get::<bool, _>("outdated")? {
                // It is held now, so nobody changes it any more.
                data = sqlx::query_scalar(DATA).bind(id).fetch_one(&mut *connection).await?;
            }
            let operation = OperationRow::from_row(&row)?;
            grant.given.push(ClaimedOperation { operation, input: row.try_get("input")?, data });
        }
        Ok(grant)
    }
}
