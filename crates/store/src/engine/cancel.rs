//! Asking operations to end, and telling those that wait that it may be time.

use ::engine::{
    State,
    storage::{Cancel, OperationId, Wake},
};
use sqlx_macros::FromRow;

use super::{EngineStore, rows::storable};
use crate::{
    Connection, Error,
    sql::{Text, sql},
};

// What waits behind another operation has not begun, so it ends right here. What sleeps is woken.
sql!(REQUEST = "
    UPDATE operations
    SET cancel_state = $3, cancel_reason = $4, journal = journal + 1, updated_at = " now ",
        state = CASE WHEN due_at IS NULL THEN $3 ELSE state END,
        note = CASE WHEN due_at IS NULL THEN $4 ELSE note END,
        ended_at = CASE WHEN due_at IS NULL THEN " now " END,
        due_at = CASE WHEN due_at > " now " AND NOT held THEN " now " ELSE due_at END
    WHERE id = $2 AND ended_at IS NULL AND cancel_state IS NULL
    RETURNING journal, epoch, state, stage, step");

// Only what has not begun.
sql!(WITHDRAW = "
    UPDATE operations
    SET cancel_state = $3, cancel_reason = $4, journal = journal + 1, updated_at = " now ",
        state = $3, note = $4, ended_at = " now "
    WHERE id = $2 AND due_at IS NULL AND ended_at IS NULL AND cancel_state IS NULL
    RETURNING journal, epoch, state, stage, step");

sql!(NOTE = "
    INSERT INTO runs (operation_id, seq, event, epoch, began_at, ended_at, reason, state,
                      then_stage, then_step)
    VALUES ($2, $3, 'cancel_requested', $4, " now ", " now ", $5, $6, $7, $8)");

sql!(UNFINISHED = "SELECT count(*) FROM operations WHERE id = $1 AND ended_at IS NULL");

sql!(SIGNAL = "
    UPDATE operations SET due_at = " now ", updated_at = " now "
    WHERE awaits = $2 AND NOT held AND due_at > " now);

#[derive(FromRow)]
struct CancelRow {
    journal: i64,
    epoch: i64,
    state: String,
    stage: Option<String>,
    step: Option<String>,
}

impl EngineStore {
    pub(super) async fn request_cancel_of(
        &self,
        id: OperationId,
        cancel: &Cancel,
    ) -> Result<bool, Error> {
        let mut transaction = self.database.begin().await?;
        let requested = self.cancel_in(transaction.connection(), id, cancel).await?;
        if requested {
            transaction.commit().await?;
            self.wakes.ring(Wake::Due);
            self.wakes.changed([(id, None)]);
            return Ok(true);
        }
        transaction.rollback().await?;
        let unfinished: i64 = on!(self.database.reader(), UNFINISHED, |text, pool| {
            sqlx::query_scalar(text).bind(id).fetch_one(pool).await
        })?;
        Ok(unfinished == 1)
    }

    /// Ends an operation that waits behind another one. `false`: it has begun, is final or unknown.
    pub(crate) async fn withdraw(&self, id: OperationId, reason: &str) -> Result<bool, Error> {
        let cancel = Cancel { state: State::Canceled, reason: reason.to_owned() };
        let mut transaction = self.database.begin().await?;
        let withdrawn = self.request(transaction.connection(), WITHDRAW, id, &cancel).await?;
        transaction.commit().await?;
        if withdrawn {
            self.wakes.changed([(id, None)]);
        }
        Ok(withdrawn)
    }

    /// Whether it was asked now: neither final, nor unknown, nor asked before.
    pub(super) async fn cancel_in(
        &self,
        connection: Connection<'_>,
        id: OperationId,
        cancel: &Cancel,
    ) -> Result<bool, Error> {
        self.request(connection, REQUEST, id, cancel).await
    }

    async fn request(
        &self,
        mut connection: Connection<'_>,
        text: Text,
        id: OperationId,
        cancel: &Cancel,
    ) -> Result<bool, Error> {
        let now = self.now();
        let reason = storable(&cancel.reason);
        let requested: Option<CancelRow> = on!(connection.lend(), text, |text, connection| {
            sqlx::query_as(text)
                .bind(now)
                .bind(id)
                .bind(cancel.state.as_str())
                .bind(&reason)
                .fetch_optional(connection)
                .await
        })?;
        let Some(requested) = requested else { return Ok(false) };
        on!(connection, NOTE, |text, connection| {
            sqlx::query(text)
                .bind(now)
                .bind(id)
                .bind(requested.journal)
                .bind(requested.epoch)
                .bind(&reason)
                .bind(&requested.state)
                .bind(&requested.stage)
                .bind(&requested.step)
                .execute(connection)
                .await
                .map(drop)
        })?;
        Ok(true)
    }

    pub(super) async fn signal_waiting(&self, signal: &str) -> Result<(), Error> {
        let now = self.now();
        on!(self.database.writer(), SIGNAL, |text, pool| {
            sqlx::query(text).bind(now).bind(signal).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)?;
        self.wakes.ring(Wake::Signal(signal.to_owned()));
        Ok(())
    }
}
