//! Ending an operation as failed, whatever its step does.
//!
//! What a reader would get wrong: it does not wait for the owner. The epoch is raised, so that a result of the owner is fenced, and
//! its replica drops the step at its next look. Until then the step may call outside systems: nothing of the instance begins
//! before that, neither what waits nor what is accepted meanwhile.

use ::engine::storage::{OperationId, STOPPED_AFTER, Wake};
use base::Failure;
use sqlx_macros::FromRow;

use super::{
    EngineStore,
    join::microseconds,
    rows::{storable, written},
};
use crate::{
    Error, Moment,
    sql::{Text, sql},
};

sql!(LOCK = "
    SELECT stage, step FROM operations WHERE id = $1 AND ended_at IS NULL" wait);

macro_rules! end {
    ($now:literal, $later:literal) => {
        concat!(
            "UPDATE operations
             SET state = 'failed', stage = NULL, step = NULL, clocks = NULL, awaits = NULL,
                 note = $3, failure = $4, owner = NULL, held = false, due_at = NULL,
                 step_gone_at = CASE WHEN held THEN ",
            $later,
            " END, epoch = epoch + 1, journal = journal + 1, ended_at = ",
            $now,
            ", updated_at = ",
            $now,
            " WHERE id = $2 AND ended_at IS NULL
             RETURNING instance, journal, epoch, ended_at"
        )
    };
}
const END: Text = Text {
    postgres: end!(
        "COALESCE($1, statement_timestamp())",
        "COALESCE($1, statement_timestamp()) + $5 * interval '1 microsecond'"
    ),
    sqlite: end!("$1", "$1 + $5"),
};

const NOTE: &str = "
    INSERT INTO runs (operation_id, seq, event, stage, step, epoch, began_at, ended_at, outcome,
                      reason, failure, state)
    VALUES ($1, $2, 'run', $3, $4, $5, $6, $6, 'ended', $7, $8, 'failed')";

#[derive(FromRow)]
struct Open {
    stage: Option<String>,
    step: Option<String>,
}

#[derive(FromRow)]
struct Abandoned {
    instance: String,
    journal: i64,
    epoch: i64,
    ended_at: Moment,
}

impl EngineStore {
    pub(super) async fn end_as_failed(
        &self,
        id: OperationId,
        failure: &Failure,
    ) -> Result<bool, Error> {
        let now = self.now();
        let (note, failure) = (storable(&failure.message), storable(&written(failure)?));
        let mut transaction = self.database.begin().await?;
        let open: Option<Open> = on!(transaction.connection(), LOCK, |text, connection| {
            sqlx::query_as(text).bind(id).fetch_optional(connection).await
        })?;
        let Some(open) = open else {
            transaction.rollback().await?;
            return Ok(false);
        };
        let ended: Abandoned = on!(transaction.connection(), END, |text, connection| {
            sqlx::query_as(text)
                .bind(now)
                .bind(id)
                .bind(&note)
                .bind(&failure)
                .bind(microseconds(STOPPED_AFTER))
                .fetch_one(connection)
                .await
        })?;
        on!(transaction.connection(), |connection| {
            sqlx::query(NOTE)
                .bind(id)
                .bind(ended.journal)
                .bind(&open.stage)
                .bind(&open.step)
                .bind(ended.epoch)
                .bind(ended.ended_at)
                .bind(&note)
                .bind(&failure)
                .execute(connection)
                .await
                .map(drop)
        })?;
        self.admit_next(transaction.connection(), &[ended.instance]).await?;
        transaction.commit().await?;
        self.wakes.ring(Wake::Due);
        Ok(true)
    }
}
