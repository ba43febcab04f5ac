//! Admission: the oldest operation that waits becomes the one that runs.
//!
//! Must be a statement of its own after the one that ended the operation before: only a fresh
//! snapshot shows what was accepted while that statement waited for its row.
//!
//! After an operation was abandoned while it ran, the next one is due when the step is gone.

use crate::{Connection, Error, Moment, database::Backend};

// LIMIT above FOR UPDATE: if the oldest one is called off while we wait for it, the next one counts.
const POSTGRES: &str = "
    WITH next AS (
        SELECT n.id, (
            SELECT max(g.step_gone_at) FROM operations g
            WHERE g.instance = i.instance AND g.step_gone_at IS NOT NULL) AS step_gone_at
        FROM unnest($2::text[]) AS i(instance)
        CROSS JOIN LATERAL (
            SELECT w.id FROM operations w
            WHERE w.instance = i.instance AND w.due_at IS NULL AND w.ended_at IS NULL
            ORDER BY w.created_at, w.id LIMIT 1 FOR UPDATE
        ) n
        WHERE NOT EXISTS (
            SELECT 1 FROM operations a WHERE a.instance = i.instance AND a.due_at IS NOT NULL)
    ), admitted AS (
        UPDATE operations o
        SET due_at = GREATEST(COALESCE($1, statement_timestamp()), n.step_gone_at), journal = o.journal + 1,
            updated_at = COALESCE($1, statement_timestamp())
        FROM next n WHERE o.id = n.id
        RETURNING o.id, o.journal, o.epoch, o.updated_at, o.state
    ), noted AS (
        INSERT INTO runs (operation_id, seq, event, epoch, began_at, ended_at, state)
        SELECT id, journal, 'admitted', epoch, updated_at, updated_at, state FROM admitted
    )
    SELECT count(*) FROM admitted";

const SQLITE: &str = "
    UPDATE operations
    SET due_at = max($1, COALESCE((
            SELECT max(g.step_gone_at) FROM operations g
            WHERE g.instance = operations.instance AND g.step_gone_at IS NOT NULL), $1)),
        journal = journal + 1, updated_at = $1
    WHERE id IN (
        SELECT (
            SELECT w.id FROM operations w
            WHERE w.instance = i.value AND w.due_at IS NULL AND w.ended_at IS NULL
            ORDER BY w.created_at, w.id LIMIT 1)
        FROM json_each($2) i
        WHERE NOT EXISTS (
            SELECT 1 FROM operations a WHERE a.instance = i.value AND a.due_at IS NOT NULL))
    RETURNING hex(id)";

const SQLITE_NOTED: &str = "
    INSERT INTO runs (operation_id, seq, event, epoch, began_at, ended_at, state)
    SELECT id, journal, 'admitted', epoch, updated_at, updated_at, state
    FROM operations WHERE id IN (SELECT unhex(value) FROM json_each($1))";

/// Admits the next one of each instance where nothing runs; returns how many.
pub(super) async fn next(
    connection: Connection<'_>,
    now: Option<Moment>,
    instances: &[String],
) -> Result<u64, Error> {
    match connection {
        Backend::Postgres(connection) => {
            let admitted: i64 = sqlx::query_scalar(POSTGRES)
                .bind(now)
                .bind(instances)
                .fetch_one(connection)
                .await?;
            Ok(admitted.unsigned_abs())
        }
        Backend::Sqlite(connection) => {
            let instances = super::rows::written(&instances)?;
            let admitted: Vec<String> = sqlx::query_scalar(SQLITE)
                .bind(now)
                .bind(instances)
                .fetch_all(&mut *connection)
                .await?;
            if !admitted.is_empty() {
                let ids = super::rows::written(&admitted)?;
                sqlx::query(SQLITE_NOTED).bind(ids).execute(connection).await?;
            }
            Ok(admitted.len() as u64)
        }
    }
}
