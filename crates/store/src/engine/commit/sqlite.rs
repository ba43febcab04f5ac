//! The commit on SQLite: three statements for the whole batch, inside the caller's transaction.

use ::engine::storage::OperationId;
use serde::Serialize;
use sqlx::SqliteConnection;
use sqlx_macros::FromRow;

use super::{Fence, FencedCommit, Line, PassedById};
use crate::{Error, Moment, engine::rows};

// $1 time, $2 replica, $3 whether the owner, $4 whether the end is looked at, $5 the lines.
const WRITE: &str = "
    WITH given AS MATERIALIZED (
        SELECT unhex(value ->> 'id') AS id, value ->> 'epoch' AS epoch,
               value ->> 'serial' AS serial, value ->> 'state' AS state,
               value ->> 'stage' AS stage, value ->> 'step' AS step,
               value ->> 'closed' AS closed, value ->> 'incomplete' AS incomplete,
               value ->> 'clocks' AS clocks, value ->> 'started_at' AS started_at,
               value ->> 'ended_at' AS ended_at, value ->> 'note' AS note,
               value ->> 'failure' AS failure, value ->> 'ends' AS ends,
               value ->> 'until' AS until, value ->> 'awaits' AS awaits,
               value ->> 'version' AS version, value ->> 'run' AS run,
               value ->> 'repeats' AS repeats
        FROM json_each($5)
    )
    UPDATE operations
    SET state = g.state, stage = g.stage, step = g.step, closed = g.closed,
        incomplete = g.incomplete, clocks = g.clocks, started_at = g.started_at,
        ended_at = CASE WHEN g.ends THEN COALESCE(g.ended_at, $1) ELSE g.ended_at END,
        note = g.note, failure = g.failure,
        data_version = COALESCE(g.version, operations.data_version),
        serial = operations.serial + 1,
        runs = COALESCE(g.run, operations.runs),
        journal = operations.journal
            + CASE WHEN g.run IS NULL OR g.repeats = operations.journal THEN 0 ELSE 1 END,
        held = NOT g.ends AND g.until IS NULL,
        due_at = CASE WHEN g.ends THEN NULL ELSE COALESCE(g.until, operations.due_at) END,
        awaits = g.awaits,
        updated_at = $1
    FROM given AS g
    WHERE operations.id = g.id
      AND (NOT $3 OR (operations.epoch = g.epoch AND operations.serial = g.serial
                      AND operations.owner = $2
                      AND EXISTS (SELECT 1 FROM replicas r
                                  WHERE r.id = $2 AND r.lease_until > $1)))
      AND (NOT $4 OR (operations.ended_at IS NULL AND (operations.held OR NOT $3)))
    RETURNING id, instance, epoch, journal, cancel_state, cancel_reason";

// $1 the entries, $2 replica.
const NOTE: &str = "
    INSERT INTO runs (operation_id, seq, event, stage, step, run, epoch, replica, began_at, ended_at,
                      outcome, reason, failure, next_at, state, then_stage, then_step)
    SELECT unhex(value ->> 'id'), value ->> 'seq', 'run', value ->> 'run_stage',
           value ->> 'run_step', value ->> 'run', value ->> 'current_epoch', $2,
           value ->> 'began_at', value ->> 'run_ended_at', value ->> 'outcome', value ->> 'reason',
           value ->> 'run_failure', value ->> 'next_at', value ->> 'state', value ->> 'stage',
           value ->> 'step'
    FROM json_each($1) WHERE true
    ON CONFLICT (operation_id, seq) DO UPDATE
    SET times = times + 1, run = excluded.run, ended_at = excluded.ended_at,
        next_at = excluded.next_at, reason = excluded.reason";

const LEARN: &str = "
    UPDATE operation_data SET data = unhex(g.value ->> 1)
    FROM json_each($1) AS g WHERE operation_id = unhex(g.value ->> 0)";

#[derive(FromRow)]
struct Row {
    id: OperationId,
    instance: String,
    epoch: i64,
    journal: i64,
    cancel_state: Option<String>,
    cancel_reason: Option<String>,
}

/// A line that landed, with its place in the journal.
#[derive(Serialize)]
struct JournalLine<'a> {
    seq: i64,
    current_epoch: i64,
    #[serde(flatten)]
    line: &'a Line,
}

pub(super) async fn write(
    connection: &mut SqliteConnection,
    now: Option<Moment>,
    fence: Fence,
    lines: &[Line],
) -> Result<PassedById, Error> {
    let found: Vec<Row> = sqlx::query_as(WRITE)
        .bind(now)
        .bind(fence.replica)
        .bind(fence.owned)
        .bind(fence.unfinished)
        .bind(rows::written(&lines)?)
        .fetch_all(&mut *connection)
        .await?;
    let mut passed = PassedById::with_capacity(found.len());
    let mut epochs = std::collections::HashMap::with_capacity(found.len());
    for row in found {
        let cancel = rows::cancel(row.cancel_state.as_deref(), row.cancel_reason.as_deref())?;
        epochs.insert(row.id, row.epoch);
        passed
            .insert(row.id, FencedCommit { instance: row.instance, journal: row.journal, cancel });
    }
    let noted: Vec<JournalLine<'_>> = lines
        .iter()
        .filter(|line| line.run.is_some())
        .filter_map(|line| {
            let seq = passed.get(&line.id)?.journal;
            Some(JournalLine { seq, current_epoch: *epochs.get(&line.id)?, line })
        })
        .collect();
    if !noted.is_empty() {
        sqlx::query(NOTE)
            .bind(rows::written(&noted)?)
            .bind(fence.replica)
            .execute(&mut *connection)
            .await?;
    }
    let learnt: Vec<(String, String)> = lines
        .iter()
        .filter(|line| passed.contains_key(&line.id))
        .filter_map(|line| Some((line.id.simple().to_string(), hex::encode(line.data.as_deref()?))))
        .collect();
    if !learnt.is_empty() {
        sqlx::query(LEARN).bind(rows::written(&learnt)?).execute(connection).await?;
    }
    Ok(passed)
}
