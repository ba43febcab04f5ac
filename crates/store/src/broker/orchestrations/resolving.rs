//! The runtimes of an orchestration are stored once, all together; those that are tried again come behind them.

use ::engine::storage::{NewOperation, Verdict};
use jiff::Timestamp;
use uuid::Uuid;

use super::{
    no_proof,
    parameters::{Fields, with_fields},
};
use crate::{Error, Moment, Transaction, accepted::check_instance, broker::BrokerStore};

// Nobody else writes the row until the transaction ends.
const BEGIN: &str = "
    UPDATE orchestrations SET state = 'in progress', description = $3, updated_at = $4
    WHERE id = $1 AND driver = $2 AND state = 'pending'";
// Only while nothing has started.
const REPLACE: &str = "
    UPDATE orchestrations SET description = $3, updated_at = $4
    WHERE id = $1 AND driver = $2 AND state = 'in progress' AND NOT EXISTS (
        SELECT 1 FROM orchestration_operations m WHERE m.orchestration = orchestrations.id
        AND (m.accepted OR m.state <> 'pending'))";
const EMPTY: &str = "DELETE FROM orchestration_operations WHERE orchestration = $1";
const RETRY: &str = "
    UPDATE orchestrations
    SET state = CASE WHEN state = 'failed' THEN 'retrying' ELSE state END, driver = $2, description = $3,
        parameters = $5, updated_at = $4
    WHERE id = $1 AND state IN ('failed', 'retrying', 'in progress')";
// By whichever driver comes first: of two retries the second one's driver is queued behind the first one's, which starts both.
const RETRIED: &str = "
    UPDATE orchestrations SET state = 'in progress', updated_at = $2 WHERE id = $1 AND state = 'retrying'";
const SUPERSEDE: &str = "
    UPDATE orchestration_operations SET superseded = true
    WHERE operation_id = $1 AND state = 'failed' AND NOT superseded";
// The failures that stay. A retry of an orchestration that has ended accepts them all; while it runs, no more are accepted
// than were before, and no more than there are.
const FORGIVE: &str = concat!(
    "UPDATE orchestrations
    SET released = released OR (state = 'retrying' AND ",
    no_proof!(),
    "),
        forgiven = (
            SELECT CASE WHEN orchestrations.state = 'retrying' OR count(*) < orchestrations.forgiven
                THEN count(*) ELSE orchestrations.forgiven END
            FROM orchestration_operations m
            WHERE m.orchestration = orchestrations.id AND m.state = 'failed' AND NOT m.superseded),
        forgiven_canaries = (
            SELECT CASE WHEN orchestrations.state = 'retrying' OR count(*) < orchestrations.forgiven_canaries
                THEN count(*) ELSE orchestrations.forgiven_canaries END
            FROM orchestration_operations m
            WHERE m.orchestration = orchestrations.id AND m.state = 'failed' AND m.wave = 0 AND NOT m.superseded)
    WHERE id = $1"
);
const LAST: &str = "
    SELECT COALESCE(max(position), -1) FROM orchestration_operations WHERE orchestration = $1";
const INSERT: &str = "
    INSERT INTO orchestration_operations (operation_id, orchestration, position, wave, instance, runtime_id,
        shoot_name, global_account, subaccount, plan_id, plan_name, window_rule, window_begin, window_end, state,
        description, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'pending', $15, $16)";

/// Every statement; they go by primary keys or by order.
#[cfg(test)]
pub(in crate::broker) const TEXTS: &[(&str, &str)] = &[
    (BEGIN, ""),
    (REPLACE, ""),
    (EMPTY, ""),
    (RETRY, ""),
    (RETRIED, ""),
    (SUPERSEDE, ""),
    (FORGIVE, ""),
    (LAST, ""),
    (INSERT, ""),
];

/// A runtime that an orchestration is for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMember {
    /// The operation that it will get.
    pub operation: Uuid,
    /// 0: canaries, 1: all others.
    pub wave: i64,
    /// The instance.
    pub instance: String,
    /// The runtime.
    pub runtime_id: Uuid,
    /// The name of its Shoot.
    pub shoot_name: String,
    /// The global account.
    pub global_account: String,
    /// The subaccount.
    pub subaccount: String,
    /// The plan.
    pub plan_id: String,
    /// The plan's name.
    pub plan_name: String,
    /// Its maintenance window.
    pub window_rule: Option<String>,
    /// Not before.
    pub window_begin: Option<Timestamp>,
    /// Not after.
    pub window_end: Option<Timestamp>,
}

/// The resolution of an orchestration.
#[derive(Debug, Clone)]
pub struct Resolution<'a> {
    /// The orchestration.
    pub orchestration: Uuid,
    /// Its progress, for people.
    pub description: &'a str,
    /// The description of its members.
    pub member_description: &'a str,
}

impl BrokerStore {
    /// Stores the runtimes of an orchestration in one transaction, in this order. `false`: they are stored already, or it has
    /// ended, or another driver has it.
    pub async fn resolve_orchestration(
        &self,
        driver: Uuid,
        resolution: &Resolution<'_>,
        members: &[NewMember],
    ) -> Result<bool, Error> {
        let mut transaction = self.database().begin().await?;
        if !self.store_resolution(&mut transaction, BEGIN, driver, resolution, None).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        self.insert_members(&mut transaction, resolution, 0, members).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores other runtimes of an orchestration of which nothing has started, in one transaction, in this order. `false`: something
    /// has started or was left out, or it has ended, or another driver has it.
    pub async fn replace_members(
        &self,
        driver: Uuid,
        resolution: &Resolution<'_>,
        members: &[NewMember],
    ) -> Result<bool, Error> {
        let mut transaction = self.database().begin().await?;
        // What starts at the same time has the lock: without waiting for it first, REPLACE would not see it.
        self.lock_orchestration(&mut transaction, resolution.orchestration).await?;
        if !self.store_resolution(&mut transaction, REPLACE, driver, resolution, None).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        on!(transaction.connection(), |connection| {
            sqlx::query(EMPTY).bind(resolution.orchestration).execute(connection).await.map(drop)
        })?;
        self.insert_members(&mut transaction, resolution, 0, members).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores that failed operations are tried again, with the driver that does it, in one transaction. Each of `members` comes
    /// with the operation that failed; `fields` of the parameters name them. What it is at comes behind what it was at before.
    /// `false`: the orchestration does not run and has not failed, or one of the operations is tried again already.
    pub async fn retry_orchestration(
        &self,
        driver: NewOperation,
        resolution: &Resolution<'_>,
        fields: &Fields<'_>,
        members: &[(Uuid, NewMember)],
    ) -> Result<bool, Error> {
        check_instance(&resolution.orchestration.to_string(), "orchestration", &driver)?;
        let id = driver.id;
        let mut transaction = self.database().begin().await?;
        self.engine.accept_in(&mut transaction, driver, &|_| Verdict::Queue).await?;
        let locked = self.lock_orchestration(&mut transaction, resolution.orchestration).await?;
        let Some(locked) = locked else {
            transaction.rollback().await?;
            return Ok(false);
        };
        let parameters = with_fields(&locked.parameters, fields)?;
        let description = format!("{}{}", locked.description, resolution.description);
        let described = Resolution { description: &description, ..resolution.clone() };
        let mut lands = self
            .store_resolution(&mut transaction, RETRY, id, &described, Some(&parameters))
            .await?;
        for (failed, _) in members {
            lands = lands
                && on!(transaction.connection(), |connection| {
                    sqlx::query(SUPERSEDE)
                        .bind(failed)
                        .execute(connection)
                        .await
                        .map(|done| done.rows_affected() == 1)
                })?;
        }
        if !lands {
            transaction.rollback().await?;
            return Ok(false);
        }
        on!(transaction.connection(), |connection| {
            sqlx::query(FORGIVE).bind(resolution.orchestration).execute(connection).await.map(drop)
        })?;
        let last: i64 = on!(transaction.connection(), |connection| {
            sqlx::query_scalar(LAST).bind(resolution.orchestration).fetch_one(connection).await
        })?;
        let new: Vec<NewMember> = members.iter().map(|(_, new)| new.clone()).collect();
        self.insert_members(&mut transaction, resolution, last + 1, &new).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Says that what is tried again begins. `false`: it has begun.
    pub async fn begin_retry(&self, orchestration: Uuid) -> Result<bool, Error> {
        super::changed!(self, RETRIED, orchestration, Moment::from(self.clock.now()))
    }

    async fn store_resolution(
        &self,
        transaction: &mut Transaction,
        text: &'static str,
        driver: Uuid,
        resolution: &Resolution<'_>,
        parameters: Option<&str>,
    ) -> Result<bool, Error> {
        let now = Moment::from(self.clock.now());
        let changed = on!(transaction.connection(), |connection| {
            let query = sqlx::query(text)
                .bind(resolution.orchestration)
                .bind(driver)
                .bind(resolution.description)
                .bind(now);
            let query = match parameters {
                Some(parameters) => query.bind(parameters),
                None => query,
            };
            query.execute(connection).await.map(|done| done.rows_affected())
        })?;
        Ok(changed == 1)
    }

    async fn insert_members(
        &self,
        transaction: &mut Transaction,
        resolution: &Resolution<'_>,
        first: i64,
        members: &[NewMember],
    ) -> Result<(), Error> {
        let now = Moment::from(self.clock.now());
        for (position, member) in (first..).zip(members) {
            on!(transaction.connection(), |connection| {
                sqlx::query(INSERT)
                    .bind(member.operation)
                    .bind(resolution.orchestration)
                    .bind(position)
                    .bind(member.wave)
                    .bind(&member.instance)
                    .bind(member.runtime_id)
                    .bind(&member.shoot_name)
                    .bind(&member.global_account)
                    .bind(&member.subaccount)
                    .bind(&member.plan_id)
                    .bind(&member.plan_name)
                    .bind(member.window_rule.as_deref())
                    .bind(member.window_begin.map(Moment::from))
                    .bind(member.window_end.map(Moment::from))
                    .bind(resolution.member_description)
                    .bind(now)
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        Ok(())
    }
}
