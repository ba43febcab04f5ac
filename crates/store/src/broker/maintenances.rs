//! What upgrades have announced outside about a runtime and have to take back: written down before it is sent, deleted after it was taken back.
//!
//! What a reader would get wrong: the operation does not take it back itself. Whether it succeeds, fails or is stopped, a chore does,
//! once the operation has ended. A maintenance of an orchestration's driver is what the orchestration could not announce itself.

use std::time::Duration;

use base::clock::whole_microseconds;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::BrokerStore;
use crate::{Error, Moment};

// What was written first stays: a repeated run finds evaluations in maintenance mode that it has put there itself.
const ANNOUNCE: &str = "
    INSERT INTO maintenances (operation_id, instance, kind, orchestration_id, announced_at, due_at)
    VALUES ($1, $2, $3, $4, $5, $5)
    ON CONFLICT (operation_id) DO UPDATE
    SET orchestration_id = COALESCE(maintenances.orchestration_id, $4),
        announced_at = COALESCE(maintenances.announced_at, $5)
    RETURNING announced_at";
// The first try of a runtime was announced with its orchestration. It has begun now, if it was written down before.
pub(super) const ANNOUNCE_FIRST: &str = "
    INSERT INTO maintenances (operation_id, instance, kind, orchestration_id, announced_at, due_at)
    SELECT $1, $2, $3, $4, $5, $5
    WHERE NOT EXISTS (
        SELECT 1 FROM orchestration_operations WHERE orchestration = $4 AND instance = $2 AND operation_id <> $1)
    ON CONFLICT (operation_id) DO UPDATE SET announced_at = $5";
const HAND_OVER: &str = "
    INSERT INTO maintenances (operation_id, instance, kind, due_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (operation_id) DO NOTHING";
const SUSPEND: &str = "
    INSERT INTO maintenances (operation_id, instance, kind, evaluations, due_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (operation_id) DO UPDATE
    SET evaluations = CASE WHEN maintenances.evaluations = '[]' THEN $4 ELSE maintenances.evaluations END
    RETURNING evaluations";
const OTHERS: &str = "
    SELECT count(*) FROM maintenances WHERE instance = $1 AND operation_id <> $2 AND evaluations <> '[]'";
// $2: an operation that did not end well may have had a call on its way. An operation that was archived has ended: when, is written
// by the first one who takes its maintenance back. How an orchestration takes back what never began is known once it is no longer canceling.
const DUE: &str = "
    SELECT m.operation_id, m.instance, m.kind, m.orchestration_id, m.announced_at, m.evaluations, m.due_at,
           COALESCE(o.ended_at, m.ended_at, m.due_at) AS ended_at,
           COALESCE(m.left_out, o.started_at IS NULL AND (o.state = 'canceled' OR (o.state = 'failed' AND (
               o.cancel_state = 'failed' OR o.failure LIKE '{\"component\":\"engine\",\"reason\":\"abandoned\",%'))), false)
               AS left_out,
           COALESCE(c.state = 'canceled', false) AS called_off
    FROM maintenances m
    LEFT JOIN operations o ON o.id = m.operation_id
    LEFT JOIN orchestrations c ON c.id = m.orchestration_id
    WHERE m.due_at <= $1 AND (m.evaluations <> '[]') = $4
      AND (o.id IS NULL OR (o.ended_at IS NOT NULL AND (o.state = 'succeeded' OR o.ended_at <= $2)))
      AND (o.started_at IS NOT NULL OR COALESCE(c.state <> 'canceling', true))
    ORDER BY m.due_at, m.operation_id LIMIT $3";
const TAKE: &str = "
    UPDATE maintenances SET due_at = $3, ended_at = COALESCE(ended_at, $4), left_out = COALESCE(left_out, $5)
    WHERE operation_id = $1 AND due_at = $2";
// The replica that restored them has released it: its announcement is due.
const RESTORED: &str = "UPDATE maintenances SET evaluations = '[]', due_at = $2 WHERE operation_id = $1 AND evaluations <> '[]'";
const FORGET: &str = "DELETE FROM maintenances WHERE operation_id = $1";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (ANNOUNCE, ""),
    (ANNOUNCE_FIRST, "orchestration_operations_of_instance"),
    (HAND_OVER, ""),
    (SUSPEND, ""),
    (OTHERS, "maintenances_of_instance"),
    (DUE, "maintenances_by_due_time"),
    (TAKE, ""),
    (RESTORED, ""),
    (FORGET, ""),
];

/// The upgrade that a maintenance is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceOf<'a> {
    pub operation: Uuid,
    /// The operation's kind.
    pub kind: &'a str,
    pub instance: &'a str,
}

/// An evaluation in maintenance mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuspendedEvaluation {
    pub id: i64,
    /// The status that it had before.
    pub status: String,
}

/// What is taken back of a maintenance: first its evaluations, then its announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaintenancePart {
    Evaluations,
    Announcement,
}

/// Maintenance that is to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    pub operation: Uuid,
    pub instance: String,
    /// The operation's kind.
    pub kind: String,
    /// The orchestration in whose name customers were notified, if they were.
    pub orchestration: Option<Uuid>,
    /// The evaluations that are in maintenance mode.
    pub evaluations: Vec<SuspendedEvaluation>,
    /// When the operation ended.
    pub ended_at: Timestamp,
    /// Whether the operation was stopped before it began: nothing was done to the runtime.
    pub left_out: bool,
    /// Whether its orchestration was canceled, and takes its whole announcement back.
    pub called_off: bool,
    due_at: Timestamp,
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    operation_id: Uuid,
    instance: String,
    kind: String,
    orchestration_id: Option<Uuid>,
    evaluations: String,
    due_at: Moment,
    ended_at: Moment,
    left_out: bool,
    called_off: bool,
}

impl Row {
    fn read(self) -> Result<Maintenance, Error> {
        Ok(Maintenance {
            operation: self.operation_id,
            instance: self.instance,
            kind: self.kind,
            orchestration: self.orchestration_id,
            evaluations: evaluations(&self.evaluations)?,
            ended_at: self.ended_at.into(),
            left_out: self.left_out,
            called_off: self.called_off,
            due_at: self.due_at.into(),
        })
    }
}

fn evaluations(text: &str) -> Result<Vec<SuspendedEvaluation>, Error> {
    serde_json::from_str(text)
        .map_err(|error| Error::Unreadable(format!("evaluations of a maintenance: {error}")))
}

impl BrokerStore {
    /// Writes down that customers are notified of an upgrade of an orchestration: its announcement is taken back, whatever becomes of it.
    /// Gives when that was written first.
    pub async fn announce_maintenance(
        &self,
        of: MaintenanceOf<'_>,
        orchestration: Uuid,
    ) -> Result<Timestamp, Error> {
        let announced: Moment = on!(self.database().writer(), |pool| {
            sqlx::query_scalar(ANNOUNCE)
                .bind(of.operation)
                .bind(of.instance)
                .bind(of.kind)
                .bind(orchestration)
                .bind(Moment::from(self.clock.now()))
                .fetch_one(pool)
                .await
        })
        .map_err(Error::writing)?;
        Ok(announced.into())
    }

    /// Writes down that the announcement of an orchestration has to be taken back for its upgrade of a runtime, also when that ends before
    /// its own notification. Not for a retry: the customer knows the end of the first try.
    pub async fn announce_first_maintenance(
        &self,
        of: MaintenanceOf<'_>,
        orchestration: Uuid,
    ) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(ANNOUNCE_FIRST)
                .bind(of.operation)
                .bind(of.instance)
                .bind(of.kind)
                .bind(orchestration)
                .bind(Moment::from(self.clock.now()))
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)
    }

    /// Writes down that an orchestration has not announced its end: that is done once its driver has ended.
    pub async fn hand_over_announcement(&self, driver: MaintenanceOf<'_>) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(HAND_OVER)
                .bind(driver.operation)
                .bind(driver.instance)
                .bind(driver.kind)
                .bind(Moment::from(self.clock.now()))
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)
    }

    /// Writes down that evaluations are about to be put into maintenance mode. Gives those that were written first.
    pub async fn suspend_evaluations(
        &self,
        of: MaintenanceOf<'_>,
        found: &[SuspendedEvaluation],
    ) -> Result<Vec<SuspendedEvaluation>, Error> {
        let text = serde_json::to_string(found)
            .map_err(|error| Error::Refused(format!("evaluations of a maintenance: {error}")))?;
        let kept: String = on!(self.database().writer(), |pool| {
            sqlx::query_scalar(SUSPEND)
                .bind(of.operation)
                .bind(of.instance)
                .bind(of.kind)
                .bind(text)
                .bind(Moment::from(self.clock.now()))
                .fetch_one(pool)
                .await
        })
        .map_err(Error::writing)?;
        evaluations(&kept)
    }

    /// Whether evaluations of an instance are in maintenance mode for another operation than this one.
    pub async fn has_other_maintenance(
        &self,
        instance: &str,
        operation: Uuid,
    ) -> Result<bool, Error> {
        let others: i64 = on!(self.database().writer(), |pool| {
            sqlx::query_scalar(OTHERS).bind(instance).bind(operation).fetch_one(pool).await
        })?;
        Ok(others > 0)
    }

    /// Maintenance of which this part is to be taken back, at most `most`. Of an operation that did not end well only when it ended
    /// `settled` ago.
    pub async fn due_maintenances(
        &self,
        part: MaintenancePart,
        settled: Duration,
        most: u32,
    ) -> Result<Vec<Maintenance>, Error> {
        let now = self.clock.now();
        let rows: Vec<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(DUE)
                .bind(Moment::from(now))
                .bind(Moment::from(now - settled))
                .bind(i64::from(most))
                .bind(part == MaintenancePart::Evaluations)
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(Row::read).collect()
    }

    /// Takes a maintenance for `hold`, also one that was taken here before; `None` when another replica was faster.
    pub async fn take_maintenance(
        &self,
        due: &Maintenance,
        hold: Duration,
    ) -> Result<Option<Maintenance>, Error> {
        let until = whole_microseconds(self.clock.now() + hold);
        let taken = on!(self.database().writer(), |pool| {
            sqlx::query(TAKE)
                .bind(due.operation)
                .bind(Moment::from(due.due_at))
                .bind(Moment::from(until))
                .bind(Moment::from(due.ended_at))
                .bind(due.left_out)
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok((taken == 1).then(|| Maintenance { due_at: until, ..due.clone() }))
    }

    /// Forgets the evaluations of a maintenance: they have the status that they had before.
    pub async fn restored_evaluations(&self, operation: Uuid) -> Result<(), Error> {
        let now = Moment::from(self.clock.now());
        on!(self.database().writer(), |pool| {
            sqlx::query(RESTORED).bind(operation).bind(now).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }

    /// Forgets a maintenance: everything was taken back.
    pub async fn forget_maintenance(&self, operation: Uuid) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(FORGET).bind(operation).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }
}
