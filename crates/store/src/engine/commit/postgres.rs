//! The commit on PostgreSQL: one statement for the whole batch.
//!
//! Operations that stay held change no indexed column here, so their rows are updated in place.

use ::engine::storage::OperationId;
use sqlx::PgConnection;
use sqlx_macros::FromRow;

use super::{Fence, FencedCommit, Line, PassedById};
use crate::{Error, Moment, engine::rows};

// $1 time, $2 replica, $3 whether the owner, $4 whether the end is looked at.
//
// IS TRUE hides the fence from the planner: it would rather read all that the owner holds, and
// compare each of them with each line, than look up the ids. The last condition names `g` for the same
// reason: of the operation alone, it would be judged before the join, by statistics of a quiet time.
const WRITE: &str = "
    WITH landed AS (
        UPDATE operations o
        SET state = g.state, stage = g.stage, step = g.step, closed = g.closed,
            incomplete = g.incomplete, clocks = g.clocks, started_at = g.started_at,
            ended_at = CASE WHEN g.ends THEN
                COALESCE(g.ended_at, $1, statement_timestamp()) ELSE g.ended_at END,
            note = g.note, failure = g.failure,
            data_version = COALESCE(g.version, o.data_version),
            serial = o.serial + 1,
            runs = COALESCE(g.run, o.runs),
            journal = o.journal
                + CASE WHEN g.run IS NULL OR g.repeats = o.journal THEN 0 ELSE 1 END,
            held = NOT g.ends AND g.until IS NULL,
            due_at = CASE WHEN g.ends THEN NULL ELSE COALESCE(g.until, o.due_at) END,
            awaits = g.awaits,
            updated_at = COALESCE($1, statement_timestamp())
        FROM unnest($5::uuid[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[],
                    $11::text[], $12::text[], $13::text[], $14::timestamptz[], $15::timestamptz[],
                    $16::text[], $17::text[], $18::boolean[], $19::timestamptz[], $20::text[],
                    $21::bytea[], $22::integer[], $23::bigint[], $24::text[], $25::text[],
                    $26::timestamptz[], $27::timestamptz[], $28::text[], $29::text[], $30::text[],
                    $31::timestamptz[], $32::bigint[])
            AS g (id, epoch, serial, state, stage, step, closed, incomplete, clocks, started_at,
                  ended_at, note, failure, ends, until, awaits, data, version, run, run_stage,
                  run_step, began_at, run_ended_at, outcome, reason, run_failure, next_at, repeats)
        WHERE o.id = g.id
          AND (NOT $3 OR (o.epoch = g.epoch AND o.serial = g.serial AND o.owner = $2 AND EXISTS (
               SELECT 1 FROM replicas r
               WHERE r.id = $2 AND r.lease_until > COALESCE($1, statement_timestamp())))) IS TRUE
          AND CASE WHEN $4 AND g.id IS NOT NULL THEN
              o.ended_at IS NULL AND (o.held OR NOT $3) ELSE true END
        RETURNING o.id, o.instance, o.epoch, o.journal, o.state, o.stage, o.step, o.cancel_state,
                  o.cancel_reason, g.data, g.run, g.run_stage, g.run_step, g.began_at,
                  g.run_ended_at, g.outcome, g.reason, g.run_failure, g.next_at
    ), noted AS (
        INSERT INTO runs AS r (operation_id, seq, event, stage, step, run, epoch, replica, began_at,
                               ended_at, outcome, reason, failure, next_at, state, then_stage,
                               then_step)
        SELECT l.id, l.journal, 'run', l.run_stage, l.run_step, l.run, l.epoch, $2, l.began_at,
               l.run_ended_at, l.outcome, l.reason, l.run_failure, l.next_at, l.state, l.stage,
               l.step
        FROM landed l WHERE l.run IS NOT NULL
        ON CONFLICT (operation_id, seq) DO UPDATE
        SET times = r.times + 1, run = excluded.run, ended_at = excluded.ended_at,
            next_at = excluded.next_at, reason = excluded.reason
    ), learnt AS (
        UPDATE operation_data d SET data = l.data
        FROM landed l WHERE d.operation_id = l.id AND l.data IS NOT NULL
    )
    SELECT id, instance, journal, cancel_state, cancel_reason FROM landed";

/// A commit that passed its fence.
#[derive(FromRow)]
pub(super) struct Row {
    id: OperationId,
    instance: String,
    journal: i64,
    cancel_state: Option<String>,
    cancel_reason: Option<String>,
}

pub(super) async fn write(
    connection: &mut PgConnection,
    now: Option<Moment>,
    fence: Fence,
    lines: &[Line],
) -> Result<Vec<Row>, sqlx::Error> {
    macro_rules! column {
        ($field:ident) => {
            lines.iter().map(|line| line.$field).collect::<Vec<_>>()
        };
        (&$field:ident) => {
            lines.iter().map(|line| line.$field.as_deref()).collect::<Vec<_>>()
        };
    }
    sqlx::query_as(WRITE)
        .bind(now)
        .bind(fence.replica)
        .bind(fence.owned)
        .bind(fence.unfinished)
        .bind(column!(id))
        .bind(column!(epoch))
        .bind(column!(serial))
        .bind(column!(state))
        .bind(column!(&stage))
        .bind(column!(&step))
        .bind(lines.iter().map(|line| line.closed.as_str()).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.incomplete.as_str()).collect::<Vec<_>>())
        .bind(column!(&clocks))
        .bind(column!(started_at))
        .bind(column!(ended_at))
        .bind(column!(&note))
        .bind(column!(&failure))
        .bind(column!(ends))
        .bind(column!(until))
        .bind(column!(&awaits))
        .bind(column!(&data))
        .bind(column!(version))
        .bind(column!(run))
        .bind(column!(&run_stage))
        .bind(column!(&run_step))
        .bind(column!(began_at))
        .bind(column!(run_ended_at))
        .bind(column!(outcome))
        .bind(column!(&reason))
        .bind(column!(&run_failure))
        .bind(column!(next_at))
        .bind(column!(repeats))
        .fetch_all(connection)
        .await
}

/// The passed commits, by id.
pub(super) fn passed(found: Vec<Row>) -> Result<PassedById, Error> {
    found
        .into_iter()
        .map(|row| {
            let cancel = rows::cancel(row.cancel_state.as_deref(), row.cancel_reason.as_deref())?;
            Ok((row.id, FencedCommit { instance: row.instance, journal: row.journal, cancel }))
        })
        .collect()
}
