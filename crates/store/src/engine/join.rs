//! Replicas come, go, and die.

use std::time::Duration;

use ::engine::{
    OperationId, PlantedBug, ReplicaId,
    storage::{JoinedReplica, Wake},
};
use uuid::Uuid;

use super::EngineStore;
use crate::{Connection, Error, Moment, database::Backend, sql::sql};

sql!(LEASE_OVER = "
    UPDATE replicas SET lease_until = " now " WHERE id = $2 AND lease_until > " now);

sql!(LET_GO = "
    UPDATE operations SET held = false, updated_at = " now ", due_at = " now "
    WHERE held AND owner = $2");

const RELEASE_STRAYS_POSTGRES: &str = "
    UPDATE operations SET held = false, updated_at = COALESCE($1, statement_timestamp())
    WHERE held AND owner = $2 AND id <> ALL ($3)";
const RELEASE_STRAYS_SQLITE: &str = "
    UPDATE operations SET held = false, updated_at = $1
    WHERE held AND owner = $2 AND id NOT IN (SELECT unhex(value) FROM json_each($3))";

sql!(RELEASE_OF_THE_DEAD = "
    UPDATE operations
    SET held = false, updated_at = " now ",
        due_at = CASE WHEN due_at > " now " THEN " now " ELSE due_at END
    WHERE id IN (
        SELECT o.id FROM operations o
        WHERE o.held AND o.owner IN (SELECT r.id FROM replicas r WHERE r.lease_until <= " now ")"
        skip ")");

sql!(
    ORPHANS = "
    SELECT DISTINCT w.instance FROM operations w
    WHERE w.due_at IS NULL AND w.ended_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM operations a WHERE a.instance = w.instance AND a.due_at IS NOT NULL)"
);

// A replica that is not in the table counts as dead, so only what still has to be released keeps a row.
const BURY_POSTGRES: &str = "
    DELETE FROM replicas r
    WHERE r.lease_until < COALESCE($1, statement_timestamp()) - interval '1 day'
      AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.held AND o.owner = r.id)";
const BURY_SQLITE: &str = "
    DELETE FROM replicas
    WHERE lease_until < $1 - 86400000000
      AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.held AND o.owner = replicas.id)";

const JOIN_POSTGRES: &str = "
    INSERT INTO replicas (id, name, incarnation, joined_at, lease_until)
    SELECT $2, $3, COALESCE(max(incarnation), 0) + 1, COALESCE($1, statement_timestamp()),
           COALESCE($1, statement_timestamp()) + $4 * interval '1 microsecond'
    FROM replicas WHERE name = $3
    RETURNING incarnation, joined_at";
const JOIN_SQLITE: &str = "
    INSERT INTO replicas (id, name, incarnation, joined_at, lease_until)
    SELECT $2, $3, COALESCE(max(incarnation), 0) + 1, $1, $1 + $4
    FROM replicas WHERE name = $3
    RETURNING incarnation, joined_at";

/// A lease in the unit that both databases can add to a time.
pub(super) fn microseconds(lease: Duration) -> i64 {
    i64::try_from(lease.as_micros()).unwrap_or(i64::MAX)
}

impl EngineStore {
    pub(super) async fn join_as(
        &self,
        name: &str,
        lease: Duration,
    ) -> Result<JoinedReplica, Error> {
        let replica = Uuid::now_v7();
        let now = self.now();
        let mut transaction = self.database.begin().await?;
        let (incarnation, joined_at): (i64, Moment) = match transaction.connection() {
            Backend::Postgres(connection) => {
                const ONE_AT_A_TIME: &str =
                    "SELECT pg_advisory_xact_lock(hashtextextended('kcp replica ' || $1, 0))";
                const EARLIER: &str = "
                    UPDATE replicas SET lease_until = COALESCE($1, statement_timestamp())
                    WHERE name = $2 AND lease_until > COALESCE($1, statement_timestamp())";
                sqlx::query(ONE_AT_A_TIME).bind(name).execute(&mut *connection).await?;
                sqlx::query(EARLIER).bind(now).bind(name).execute(&mut *connection).await?;
                sqlx::query_as(JOIN_POSTGRES)
                    .bind(now)
                    .bind(replica)
                    .bind(name)
                    .bind(microseconds(lease))
                    .fetch_one(connection)
                    .await?
            }
            Backend::Sqlite(connection) => {
                // There is one process, so every other replica is dead, whatever its name was.
                const EARLIER: &str = "UPDATE replicas SET lease_until = $1 WHERE lease_until > $1";
                sqlx::query(EARLIER).bind(now).execute(&mut *connection).await?;
                sqlx::query_as(JOIN_SQLITE)
                    .bind(now)
                    .bind(replica)
                    .bind(name)
                    .bind(microseconds(lease))
                    .fetch_one(connection)
                    .await?
            }
        };
        transaction.commit().await?;
        Ok(JoinedReplica { replica, incarnation, now: joined_at.into() })
    }

    pub(super) async fn leave_as(&self, replica: ReplicaId) -> Result<(), Error> {
        let now = self.now();
        let mut transaction = self.database.begin().await?;
        on!(transaction.connection(), LEASE_OVER, |text, connection| {
            sqlx::query(text).bind(now).bind(replica).execute(connection).await.map(drop)
        })?;
        on!(transaction.connection(), LET_GO, |text, connection| {
            sqlx::query(text).bind(now).bind(replica).execute(connection).await.map(drop)
        })?;
        transaction.commit().await?;
        self.wakes.ring(Wake::Due);
        Ok(())
    }

    pub(super) async fn release_strays(
        &self,
        replica: ReplicaId,
        in_hand: &[OperationId],
    ) -> Result<u64, Error> {
        let now = self.now();
        let released = match self.database.writer() {
            Backend::Postgres(pool) => sqlx::query(RELEASE_STRAYS_POSTGRES)
                .bind(now)
                .bind(replica)
                .bind(in_hand)
                .execute(pool)
                .await
                .map(|done| done.rows_affected()),
            Backend::Sqlite(pool) => {
                let ids: Vec<String> = in_hand.iter().map(|id| id.simple().to_string()).collect();
                sqlx::query(RELEASE_STRAYS_SQLITE)
                    .bind(now)
                    .bind(replica)
                    .bind(sqlx::types::Json(ids))
                    .execute(pool)
                    .await
                    .map(|done| done.rows_affected())
            }
        };
        released.map_err(Error::writing)
    }

    pub(super) async fn reap_dead(&self) -> Result<u64, Error> {
        let now = self.now();
        let released = on!(self.database.writer(), RELEASE_OF_THE_DEAD, |text, pool| {
            sqlx::query(text).bind(now).execute(pool).await.map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        let admitted = self.admit_orphans().await?;
        match self.database.writer() {
            Backend::Postgres(pool) => {
                sqlx::query(BURY_POSTGRES).bind(now).execute(pool).await.map(drop)
            }
            Backend::Sqlite(pool) => {
                sqlx::query(BURY_SQLITE).bind(now).execute(pool).await.map(drop)
            }
        }?;
        if released + admitted > 0 {
            self.wakes.ring(Wake::Due);
        }
        Ok(released)
    }

    async fn admit_orphans(&self) -> Result<u64, Error> {
        if self.planted.is(PlantedBug::PendingForgotten) {
            return Ok(0);
        }
        let orphans: Vec<String> = on!(self.database.reader(), ORPHANS, |text, pool| {
            sqlx::query_scalar(text).fetch_all(pool).await
        })?;
        if orphans.is_empty() {
            return Ok(0);
        }
        let mut transaction = self.database.begin().await?;
        let admitted = self.admit_next(transaction.connection(), &orphans).await?;
        transaction.commit().await?;
        Ok(admitted)
    }

    /// Admits the oldest operation that waits, in each of these instances where nothing runs.
    pub(super) async fn admit_next(
        &self,
        connection: Connection<'_>,
        instances: &[String],
    ) -> Result<u64, Error> {
        super::admit::next(connection, self.now(), instances).await
    }
}
