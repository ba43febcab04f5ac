//! Bindings: credentials for a runtime, written down before anything is made in it and forgotten after everything is removed.
//!
//! What a reader would get wrong: a binding belongs to one *attempt* at a time, the call that makes or removes it, and to nobody else
//! before `due_at`. A call whose attempt was taken over can neither finish nor forget the binding.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use uuid::Uuid;

use super::{BrokerStore, limits::LOCK, rows::can_be};
use crate::{Error, Moment, SealLocation, Sealer, Transaction, database::Backend};

/// Keeps the locks of bindings apart from those of accounts.
const APART: i64 = 3;

macro_rules! columns {
    () => {
        "id, instance, binding, runtime_id, state, expiration_seconds, predecessor, credentials, attempt, created_at,
         expires_at, due_at"
    };
}

// $4: only while the instance has this runtime.
const BEGIN: &str = "
    INSERT INTO bindings (id, instance, binding, runtime_id, state, expiration_seconds, predecessor, attempt,
        created_at, expires_at, due_at)
    SELECT $1, id, $3, $4, 'creating', $5, $6, $7, $8, $9, $10 FROM instances
    WHERE id = $2 AND runtime_id = $4 AND deleted_at IS NULL
    ON CONFLICT (instance, binding) DO NOTHING";
// Those of operators are not counted, nor those that went with a runtime of before.
const LIVE: &str = "
    SELECT count(*) FROM bindings
    WHERE instance = $1 AND runtime_id = $3 AND state <> 'removing' AND expires_at > $2
      AND substr(binding, 1, 13) <> 'kcp-operator-'";
// Only while the instance has the runtime that it was begun in.
const RESUME: &str = "
    UPDATE bindings SET attempt = $2, due_at = $3, expires_at = $4
    WHERE id = $1 AND state = 'creating' AND due_at <= $5
      AND EXISTS (SELECT 1 FROM instances WHERE instances.id = bindings.instance
          AND instances.runtime_id = bindings.runtime_id AND instances.deleted_at IS NULL)";
const FINISH: &str = "
    UPDATE bindings SET state = 'active', credentials = $3, expires_at = $4, due_at = $4
    WHERE id = $1 AND attempt = $2 AND state = 'creating'";
// An attempt in progress is not taken over before its time is over. One that was given up is nobody's ($6).
const REMOVE: &str = "
    UPDATE bindings SET state = 'removing', credentials = NULL, attempt = $2, due_at = $3
    WHERE id = $1 AND (state = 'active' OR due_at <= $4 OR attempt = $5 OR attempt = $6)";
const POSTPONE: &str = "
    UPDATE bindings SET due_at = $3, attempt = $4
    WHERE id = $1 AND attempt = $2 AND state = 'removing'";
const FORGET: &str = "DELETE FROM bindings WHERE id = $1 AND attempt = $2";
const FIND: &str =
    concat!("SELECT ", columns!(), " FROM bindings WHERE instance = $1 AND binding = $2");
const OF_INSTANCE: &str =
    concat!("SELECT ", columns!(), " FROM bindings WHERE instance = $1 ORDER BY instance, binding");
const DUE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM bindings WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2"
);

/// The attempt of a removal that was given up.
const NOBODY: Uuid = Uuid::nil();

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (BEGIN, ""),
    (LIVE, "bindings_of_instance"),
    (RESUME, ""),
    (FINISH, ""),
    (REMOVE, ""),
    (POSTPONE, ""),
    (FORGET, ""),
    (FIND, "bindings_of_instance"),
    (OF_INSTANCE, "bindings_of_instance"),
    (DUE, "bindings_by_due_time"),
];

/// A binding that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBinding<'a> {
    /// The instance.
    pub instance: &'a str,
    /// As the platform calls it.
    pub binding: &'a str,
    /// The instance's runtime.
    pub runtime: Uuid,
    /// How long it is to be valid.
    pub lifetime: Duration,
    /// The binding that it is made after.
    pub predecessor: Option<&'a str>,
}

/// A binding.
#[derive(Clone, PartialEq, Eq)]
pub struct Binding {
    pub id: Uuid,
    /// The instance.
    pub instance: String,
    /// As the platform calls it.
    pub binding: String,
    /// The runtime that it was made in.
    pub runtime: Uuid,
    /// How far it is.
    pub state: BindingState,
    /// For how long it was asked for.
    pub lifetime: Duration,
    /// The binding that it was made after.
    pub predecessor: Option<String>,
    /// The kubeconfig, while it is active; sealed at rest.
    pub credentials: Option<Vec<u8>>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// From when on the clean-up may take it.
    pub due_at: Timestamp,
}

/// The credentials are not printed.
impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("id", &self.id)
            .field("instance", &self.instance)
            .field("binding", &self.binding)
            .field("runtime", &self.runtime)
            .field("state", &self.state)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// How far a binding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingState {
    /// Something may be in the runtime, and nobody has its credentials.
    Creating,
    /// It can be used until it expires.
    Active,
    /// It cannot be used; something may still be in the runtime.
    Removing,
}

impl BindingState {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Active => "active",
            Self::Removing => "removing",
        }
    }
}

/// The right to work on a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The binding.
    pub binding: Uuid,
    id: Uuid,
}

/// The result of beginning a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginBinding {
    /// It is written down.
    Begun(Attempt),
    /// There is one of this id.
    Exists,
    /// The instance has as many as it may have.
    Full,
    /// The instance is gone, or has another runtime.
    Gone,
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    instance: String,
    binding: String,
    runtime_id: Uuid,
    state: String,
    expiration_seconds: i64,
    predecessor: Option<String>,
    credentials: Option<Vec<u8>>,
    created_at: Moment,
    expires_at: Moment,
    due_at: Moment,
}

impl Row {
    fn open(self, sealer: &Sealer) -> Result<Binding, Error> {
        let credentials = match &self.credentials {
            Some(sealed) => Some(sealer.open(place(&self.id.to_string()), sealed)?),
            None => None,
        };
        Ok(Binding { credentials, ..self.closed()? })
    }

    /// Without its credentials.
    fn closed(self) -> Result<Binding, Error> {
        let states = [BindingState::Creating, BindingState::Active, BindingState::Removing];
        let state = states.into_iter().find(|state| state.as_str() == self.state);
        Ok(Binding {
            id: self.id,
            instance: self.instance,
            binding: self.binding,
            runtime: self.runtime_id,
            state: state.ok_or_else(|| {
                Error::Unreadable(format!("state \"{}\" of a binding", self.state))
            })?,
            lifetime: Duration::from_secs(self.expiration_seconds.unsigned_abs()),
            predecessor: self.predecessor,
            credentials: None,
            created_at: self.created_at.into(),
            expires_at: self.expires_at.into(),
            due_at: self.due_at.into(),
        })
    }
}

pub(super) fn place(row: &str) -> SealLocation<'_> {
    SealLocation { table: "bindings", column: "credentials", row }
}

impl BrokerStore {
    /// Writes a binding down before it is made, unless the instance has `most` already; nobody else works on it for `hold`.
    pub async fn begin_binding(
        &self,
        new: &NewBinding<'_>,
        most: u32,
        hold: Duration,
    ) -> Result<BeginBinding, Error> {
        let now = self.clock.now();
        let attempt = Attempt { binding: Uuid::now_v7(), id: Uuid::new_v4() };
        let seconds = i64::try_from(new.lifetime.as_secs()).unwrap_or(i64::MAX);
        let mut transaction = self.database().begin().await?;
        lock(&mut transaction, new.instance).await?;
        let written = on!(transaction.connection(), |connection| {
            sqlx::query(BEGIN)
                .bind(attempt.binding)
                .bind(new.instance)
                .bind(new.binding)
                .bind(new.runtime)
                .bind(seconds)
                .bind(new.predecessor)
                .bind(attempt.id)
                .bind(Moment::from(now))
                .bind(Moment::from(now + new.lifetime))
                .bind(Moment::from(now + hold))
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        if written == 0 {
            transaction.rollback().await?;
            let there = self.find_binding(new.instance, new.binding).await?;
            return Ok(there.map_or(BeginBinding::Gone, |_| BeginBinding::Exists));
        }
        let live: i64 = on!(transaction.connection(), |connection| {
            sqlx::query_scalar(LIVE)
                .bind(new.instance)
                .bind(Moment::from(now))
                .bind(new.runtime)
                .fetch_one(connection)
                .await
        })?;
        if live > i64::from(most) {
            transaction.rollback().await?;
            return Ok(BeginBinding::Full);
        }
        transaction.commit().await?;
        Ok(BeginBinding::Begun(attempt))
    }

    /// Takes over a binding whose maker did not come back; none when another process works on it, or has finished it, or when the
    /// instance has another runtime now.
    pub async fn resume_binding(
        &self,
        binding: &Binding,
        hold: Duration,
    ) -> Result<Option<Attempt>, Error> {
        let now = self.clock.now();
        let attempt = Attempt { binding: binding.id, id: Uuid::new_v4() };
        let taken = on!(self.database().writer(), |pool| {
            sqlx::query(RESUME)
                .bind(attempt.binding)
                .bind(attempt.id)
                .bind(Moment::from(now + hold))
                .bind(Moment::from(now + binding.lifetime))
                .bind(Moment::from(now))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok((taken == 1).then_some(attempt))
    }

    /// Stores the credentials of a binding that was made; false when another attempt has taken it over.
    pub async fn finish_binding(
        &self,
        attempt: Attempt,
        credentials: &[u8],
        expires_at: Timestamp,
    ) -> Result<bool, Error> {
        let sealed = self.sealer.seal(place(&attempt.binding.to_string()), credentials);
        let finished = on!(self.database().writer(), |pool| {
            sqlx::query(FINISH)
                .bind(attempt.binding)
                .bind(attempt.id)
                .bind(sealed)
                .bind(Moment::from(expires_at))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok(finished == 1)
    }

    /// Takes a binding to remove it, and its credentials with that; no other process works on it for `hold`. None when another one does:
    /// not before its time is over, unless it is the attempt `own`.
    pub async fn begin_unbinding(
        &self,
        binding: Uuid,
        own: Option<Attempt>,
        hold: Duration,
    ) -> Result<Option<Attempt>, Error> {
        let now = self.clock.now();
        let attempt = Attempt { binding, id: Uuid::new_v4() };
        let taken = on!(self.database().writer(), |pool| {
            sqlx::query(REMOVE)
                .bind(binding)
                .bind(attempt.id)
                .bind(Moment::from(now + hold))
                .bind(Moment::from(now))
                .bind(own.map(|own| own.id))
                .bind(NOBODY)
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok((taken == 1).then_some(attempt))
    }

    /// Gives an attempt up: the clean-up removes the binding after `wait`, and everybody who is asked to before.
    pub async fn postpone_unbinding(&self, attempt: Attempt, wait: Duration) -> Result<(), Error> {
        let due_at = Moment::from(self.clock.now() + wait);
        on!(self.database().writer(), |pool| {
            sqlx::query(POSTPONE)
                .bind(attempt.binding)
                .bind(attempt.id)
                .bind(due_at)
                .bind(NOBODY)
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)
    }

    /// Forgets a binding of which nothing is in the runtime; false when another attempt has taken it over.
    pub async fn forget_binding(&self, attempt: Attempt) -> Result<bool, Error> {
        let gone = on!(self.database().writer(), |pool| {
            sqlx::query(FORGET)
                .bind(attempt.binding)
                .bind(attempt.id)
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok(gone == 1)
    }

    /// One binding, with its credentials.
    pub async fn find_binding(
        &self,
        instance: &str,
        binding: &str,
    ) -> Result<Option<Binding>, Error> {
        if !(can_be(instance) && can_be(binding)) {
            return Ok(None);
        }
        let row: Option<Row> = on!(self.database().writer(), |pool| {
            sqlx::query_as(FIND).bind(instance).bind(binding).fetch_optional(pool).await
        })?;
        row.map(|row| row.open(&self.sealer)).transpose()
    }

    /// All bindings of an instance, without their credentials.
    pub async fn bindings_of(&self, instance: &str) -> Result<Vec<Binding>, Error> {
        if !can_be(instance) {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(OF_INSTANCE).bind(instance).fetch_all(pool).await
        })?;
        rows.into_iter().map(Row::closed).collect()
    }

    /// At most `most` bindings that the clean-up may take, without their credentials, the longest due first.
    pub async fn due_bindings(&self, most: u32) -> Result<Vec<Binding>, Error> {
        let now = Moment::from(self.clock.now());
        let rows: Vec<Row> = on!(self.database().reader(), |pool| {
            sqlx::query_as(DUE).bind(now).bind(i64::from(most)).fetch_all(pool).await
        })?;
        rows.into_iter().map(Row::closed).collect()
    }
}

/// Keeps others from counting until the transaction ends; SQLite has one writer anyhow.
async fn lock(transaction: &mut Transaction, instance: &str) -> Result<(), Error> {
    if let Backend::Postgres(connection) = transaction.connection() {
        sqlx::query(LOCK).bind(instance).bind(APART).execute(connection).await?;
    }
    Ok(())
}
