//! Ending an operation as failed, whatever its step does.
//!
//! What a reader would get wrong: it does not wait for the owner. The epoch is raised, so that a result of the owner is fenced, and
//! its replica drops the step after its next heartbeat. Until then the step may call outside systems: nothing of the instance begins
//! before the owner's lease ends as it is stored now, neither what waits nor what is accepted meanwhile.
//!
//! The lease is locked first: a heartbeat that renews it later begins its look after this has landed, and finds the operation
//! lost. A replica that leaves locks its lease before its operations too.
//!
//! On PostgreSQL a heartbeat of the owner waits for this transaction, which must therefore not stand still for long: the server ends
//! it when this process freezes between two statements, and gives up on a lock that it does not get.

use ::engine::{
    ReplicaId,
    storage::{OperationId, Wake},
};
use base::Failure;
use sqlx_macros::FromRow;

use super::{
    EngineStore,
    rows::{storable, written},
};
use crate::{
    Connection, Error, Moment,
    database::Backend,
    sql::{Text, sql},
};

/// PostgreSQL's code of a lock that was not given in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";
// Until the end of the transaction, in milliseconds: much shorter than a lease.
const LIMITS: &str = "
    SELECT set_config('idle_in_transaction_session_timeout', '2000', true),
           set_config('lock_timeout', '2000', true)";

sql!(
    OWNER = "
    SELECT owner FROM operations WHERE id = $1 AND ended_at IS NULL"
);

const LEASE: Text = Text {
    postgres: "SELECT lease_until FROM replicas WHERE id = $1 FOR SHARE",
    sqlite: "SELECT lease_until FROM replicas WHERE id = $1",
};

sql!(LOCK = "
    SELECT owner, stage, step FROM operations WHERE id = $1 AND ended_at IS NULL" wait);

macro_rules! end {
    ($now:literal, $gone:literal) => {
        concat!(
            "UPDATE operations
             SET state = 'failed', stage = NULL, step = NULL, clocks = NULL, awaits = NULL,
                 note = $3, failure = $4, owner = NULL, held = false, due_at = NULL,
                 step_gone_at = CASE WHEN held THEN ",
            $gone,
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
        "GREATEST($5, COALESCE($1, statement_timestamp()))"
    ),
    sqlite: end!("$1", "max(COALESCE($5, $1), $1)"),
};

const NOTE: &str = "
    INSERT INTO runs (operation_id, seq, event, stage, step, epoch, began_at, ended_at, outcome,
                      reason, failure, state)
    VALUES ($1, $2, 'run', $3, $4, $5, $6, $6, 'ended', $7, $8, 'failed')";

#[derive(FromRow)]
struct Open {
    owner: Option<ReplicaId>,
    stage: Option<String>,
    step: Option<String>,
}

#[derive(FromRow)]
struct AbandonedRow {
    instance: String,
    journal: i64,
    epoch: i64,
    ended_at: Moment,
}

impl EngineStore {
    pub(super) async fn abandon_now(
        &self,
        id: OperationId,
        failure: &Failure,
    ) -> Result<bool, Error> {
        self.try_to_abandon(id, failure).await.map_err(contended)
    }

    async fn try_to_abandon(&self, id: OperationId, failure: &Failure) -> Result<bool, Error> {
        let now = self.now();
        let (note, failure) = (storable(&failure.message), storable(&written(failure)?));
        let (mut transaction, open, lease) = loop {
            let mut transaction = self.database.begin().await?;
            limit(transaction.connection()).await?;
            match lock(transaction.connection(), id).await? {
                LockedOperation::Open(open, lease) => break (transaction, open, lease),
                LockedOperation::ChangedHands => transaction.rollback().await?,
                LockedOperation::Final => {
                    transaction.rollback().await?;
                    return Ok(false);
                }
            }
        };
        let ended: AbandonedRow = on!(transaction.connection(), END, |text, connection| {
            sqlx::query_as(text)
                .bind(now)
                .bind(id)
                .bind(&note)
                .bind(&failure)
                .bind(lease)
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
        let instance = ended.instance;
        self.admit_next(transaction.connection(), std::slice::from_ref(&instance)).await?;
        transaction.commit().await?;
        self.wakes.ring(Wake::Due);
        self.wakes.changed([(id, Some(instance.as_str()))]);
        Ok(true)
    }
}

/// An operation that is about to be ended.
enum LockedOperation {
    /// It is not final; with the end of its owner's lease.
    Open(Open, Option<Moment>),
    /// Another replica took it over while the lease was being locked.
    ChangedHands,
    /// It is final or unknown.
    Final,
}

async fn limit(connection: Connection<'_>) -> Result<(), Error> {
    if let Backend::Postgres(connection) = connection {
        sqlx::query(LIMITS).execute(connection).await?;
    }
    Ok(())
}

/// A lock that was not given in time is for the operator to ask for again.
fn contended(error: Error) -> Error {
    match &error {
        Error::Database(sqlx::Error::Database(cause))
            if cause.code().as_deref() == Some(LOCK_NOT_AVAILABLE) =>
        {
            Error::Contended
        }
        _ => error,
    }
}

async fn lock(mut connection: Connection<'_>, id: OperationId) -> Result<LockedOperation, Error> {
    let owner: Option<Option<ReplicaId>> = on!(connection.lend(), OWNER, |text, connection| {
        sqlx::query_scalar(text).bind(id).fetch_optional(connection).await
    })?;
    let Some(owner) = owner else { return Ok(LockedOperation::Final) };
    let lease: Option<Moment> = on!(connection.lend(), LEASE, |text, connection| {
        sqlx::query_scalar(text).bind(owner).fetch_optional(connection).await
    })?;
    let open: Option<Open> = on!(connection, LOCK, |text, connection| {
        sqlx::query_as(text).bind(id).fetch_optional(connection).await
    })?;
    Ok(match open {
        Some(open) if open.owner == owner => LockedOperation::Open(open, lease),
        Some(_) => LockedOperation::ChangedHands,
        None => LockedOperation::Final,
    })
}
