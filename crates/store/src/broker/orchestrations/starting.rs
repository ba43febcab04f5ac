//! Which runtime of an orchestration comes next, and the acceptance of its operation.
//!
//! What a reader would get wrong: the slots are counted in the transaction that fills one, behind a lock of the orchestration's row.
//! So a driver that has lost its lease and does not know it starts nothing beyond them.

use ::engine::storage::{Acceptance, NewOperation, Pairs};
use jiff::Timestamp;
use uuid::Uuid;

use super::{
    changed,
    members::{Member, Row, columns},
};
use crate::{
    Error, Moment, Transaction,
    broker::{BrokerStore, maintenances::ANNOUNCE_FIRST},
    sql::sql,
};

// $2: the last wave that may start. $3: now.
const DUE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM orchestration_operations m LEFT JOIN operations o ON o.id = m.operation_id
      WHERE m.orchestration = $1 AND m.state = 'pending' AND NOT m.accepted AND m.wave <= $2
        AND (m.window_begin IS NULL OR m.window_begin <= $3)
      ORDER BY m.wave, m.position LIMIT $4"
);
const NEXT: &str = "
    SELECT min(window_begin) FROM orchestration_operations
    WHERE orchestration = $1 AND state = 'pending' AND NOT accepted AND wave <= $2 AND window_begin > $3";
const MOVE: &str = "
    UPDATE orchestration_operations SET window_begin = $2, window_end = $3
    WHERE operation_id = $1 AND state = 'pending' AND NOT accepted";
const SKIP: &str = "
    UPDATE orchestration_operations SET state = 'canceled', description = $2, ended_at = $3
    WHERE operation_id = $1 AND state = 'pending' AND NOT accepted";
const CALL_OFF: &str = "
    UPDATE orchestration_operations SET state = 'canceled', description = $2, ended_at = $3
    WHERE orchestration = $1 AND state = 'pending' AND NOT accepted";
// Accepted, and behind another operation of the runtime.
const QUEUED: &str = "
    SELECT m.operation_id FROM orchestration_operations m JOIN operations o ON o.id = m.operation_id
    WHERE m.orchestration = $1 AND m.state = 'pending' AND m.accepted AND o.due_at IS NULL AND o.ended_at IS NULL";
sql!(LOCK = "
    SELECT workers FROM orchestrations WHERE id = $1 AND state = 'in progress' AND NOT paused" wait);
const RUNNING: &str = "
    SELECT count(*) FROM orchestration_operations
    WHERE orchestration = $1 AND state IN ('pending', 'in progress') AND accepted";
const ACCEPTED: &str = "
    UPDATE orchestration_operations SET accepted = true, description = $2
    WHERE operation_id = $1 AND state = 'pending' AND NOT accepted";

// The instance cannot go before the operation can be seen.
const HOLD: &str = "UPDATE instances SET revision = revision WHERE id = $1 AND deleted_at IS NULL";

/// Every statement; they go by primary keys or by state.
#[cfg(test)]
pub(in crate::broker) const TEXTS: &[(&str, &str)] = &[
    (DUE, "orchestration_operations_by_state"),
    (MOVE, ""),
    (SKIP, ""),
    (CALL_OFF, ""),
    (QUEUED, "orchestration_operations_by_state"),
    (RUNNING, ""),
    (ACCEPTED, ""),
    (HOLD, ""),
];

/// The start of one runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberStart<'a> {
    /// The orchestration.
    pub orchestration: Uuid,
    /// Its progress, for people.
    pub description: &'a str,
    /// Whether customers were notified of it: they will be notified of its end, whatever becomes of its operation.
    pub announced: bool,
}

/// The result of starting one runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartResult {
    /// Its operation is stored.
    Yes,
    /// It was before, or is not to start any more.
    Before,
    /// All slots are taken, or the orchestration is paused or canceled.
    NoSlot,
    /// The table of pairs refuses it because of this operation.
    Refused(Uuid),
    /// There is no such instance any more.
    Gone,
}

impl BrokerStore {
    /// The next runtimes that may start now, in their order, up to a wave.
    pub async fn due_members(
        &self,
        orchestration: Uuid,
        wave: i64,
        now: Timestamp,
        most: u32,
    ) -> Result<Vec<Member>, Error> {
        let rows: Vec<Row> = on!(self.database().writer(), |pool| {
            sqlx::query_as(DUE)
                .bind(orchestration)
                .bind(wave)
                .bind(Moment::from(now))
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
        })?;
        Ok(rows.into_iter().map(Member::from).collect())
    }

    /// When the next window opens of a runtime that waits for it.
    pub async fn next_window(
        &self,
        orchestration: Uuid,
        wave: i64,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let next: Option<Moment> = on!(self.database().writer(), |pool| {
            let query = sqlx::query_scalar(NEXT).bind(orchestration).bind(wave);
            query.bind(Moment::from(now)).fetch_one(pool).await
        })?;
        Ok(next.map(Into::into))
    }

    /// Gives a runtime another window. `false`: it has started or was canceled.
    pub async fn move_window(
        &self,
        operation: Uuid,
        begin: Timestamp,
        end: Timestamp,
    ) -> Result<bool, Error> {
        changed!(self, MOVE, operation, Moment::from(begin), Moment::from(end))
    }

    /// Leaves one runtime out. `false`: it has started or was canceled.
    pub async fn skip_member(&self, operation: Uuid, why: &str) -> Result<bool, Error> {
        changed!(self, SKIP, operation, why, Moment::from(self.clock.now()))
    }

    /// Leaves everything out that has not started, also what waits behind another operation of its runtime; how many that were.
    pub async fn call_off_members(&self, orchestration: Uuid, why: &str) -> Result<u64, Error> {
        let now = Moment::from(self.clock.now());
        let mut called_off = on!(self.database().writer(), |pool| {
            let query = sqlx::query(CALL_OFF).bind(orchestration).bind(why).bind(now);
            query.execute(pool).await.map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        let queued: Vec<Uuid> = on!(self.database().writer(), |pool| {
            sqlx::query_scalar(QUEUED).bind(orchestration).fetch_all(pool).await
        })?;
        for operation in queued {
            called_off += u64::from(self.engine.withdraw(operation, why).await?);
        }
        Ok(called_off)
    }

    /// Stores the operation of one runtime, if there is a slot: the operation, the slot and that it is announced are one transaction.
    pub async fn start_member(
        &self,
        start: &MemberStart<'_>,
        operation: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<StartResult, Error> {
        let id = operation.id;
        let mut transaction = self.database().begin().await?;
        let started = if self.has_slot(&mut transaction, start.orchestration).await? {
            self.take_slot(&mut transaction, start, operation, pairs).await?
        } else {
            StartResult::NoSlot
        };
        if started == StartResult::Yes {
            transaction.commit().await?;
            return Ok(started);
        }
        transaction.rollback().await?;
        // The answer of an earlier call was lost: what it stored counts.
        let known = self.member(id).await?;
        Ok(if known.is_some_and(|member| member.accepted) { StartResult::Before } else { started })
    }

    async fn has_slot(
        &self,
        transaction: &mut Transaction,
        orchestration: Uuid,
    ) -> Result<bool, Error> {
        let workers: Option<i64> = on!(transaction.connection(), LOCK, |text, connection| {
            sqlx::query_scalar(text).bind(orchestration).fetch_optional(connection).await
        })?;
        let Some(workers) = workers else { return Ok(false) };
        let running: i64 = on!(transaction.connection(), |connection| {
            sqlx::query_scalar(RUNNING).bind(orchestration).fetch_one(connection).await
        })?;
        Ok(running < workers)
    }

    async fn take_slot(
        &self,
        transaction: &mut Transaction,
        start: &MemberStart<'_>,
        operation: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<StartResult, Error> {
        let (id, instance) = (operation.id, operation.instance.clone());
        let kind = operation.kind.clone();
        match self.engine.accept_in(transaction, operation, pairs).await? {
            Acceptance::Started | Acceptance::Queued => {}
            Acceptance::Same(_) => return Ok(StartResult::Before),
            Acceptance::Refused(other) => return Ok(StartResult::Refused(other)),
        }
        let there = on!(transaction.connection(), |connection| {
            let query = sqlx::query(HOLD).bind(&instance);
            query.execute(connection).await.map(|done| done.rows_affected())
        })?;
        if there == 0 {
            return Ok(StartResult::Gone);
        }
        let accepted = on!(transaction.connection(), |connection| {
            let query = sqlx::query(ACCEPTED).bind(id).bind(start.description);
            query.execute(connection).await.map(|done| done.rows_affected())
        })?;
        if accepted == 0 {
            return Ok(StartResult::Before);
        }
        if start.announced {
            on!(transaction.connection(), |connection| {
                sqlx::query(ANNOUNCE_FIRST)
                    .bind(id)
                    .bind(instance)
                    .bind(kind)
                    .bind(start.orchestration)
                    .bind(Moment::from(self.clock.now()))
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        Ok(StartResult::Yes)
    }
}
