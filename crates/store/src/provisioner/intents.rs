//! Intents: what was begun before there was a runtime.
//!
//! A runtime is registered outside before it can be accepted here. The intent is what is left of an
//! order that got no further, so that its repetition goes on with it and a chore can clean up after it.

use std::fmt::Write as _;

use jiff::Timestamp;
use uuid::Uuid;

use super::ProvisionerStore;
use crate::{Error, Moment};

/// How often an intent is looked for again after a concurrent removal.
const TRIES: usize = 5;
/// Keeps these digests apart from others.
const LABEL: &str = "intent";
/// Keeps the keys made of requests apart from others.
const CONTENT: &str = "intent content";

const BEGIN: &str = "
    INSERT INTO intents (id, tenant, idempotency_key, digest, created_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING";
const FIND: &str = "
    SELECT id, digest, runtime_id, operation_id, created_at FROM intents
    WHERE tenant = $1 AND idempotency_key = $2";
const REGISTERED: &str = "
    UPDATE intents SET runtime_id = $2
    WHERE id = $1 AND (runtime_id IS NULL OR runtime_id = $2)";
const DROP: &str = "DELETE FROM intents WHERE id = $1 AND operation_id IS NULL";
const FORGET: &str = "DELETE FROM intents WHERE id = $1 AND operation_id = $2";
const ORPHAN: &str = "
    INSERT INTO intents (id, tenant, digest, runtime_id, created_at)
    VALUES ($1, $2, $3, $4, $5)";
const ABANDONED: &str = "
    SELECT id, tenant, runtime_id, created_at FROM intents
    WHERE operation_id IS NULL AND created_at < $1 AND (created_at, id) > ($3, $4)
    ORDER BY created_at, id LIMIT $2";
const TRIM: &str = "DELETE FROM intents WHERE operation_id IS NOT NULL AND created_at < $1";

/// Every statement, with the index it goes by where that is not the primary key.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[
    (BEGIN, ""),
    (FIND, "intents_one_per_key"),
    (REGISTERED, ""),
    (DROP, ""),
    (FORGET, ""),
    (ORPHAN, ""),
    (ABANDONED, "intents_abandoned"),
    (TRIM, "intents_answered"),
];

/// An order that no operation answers.
#[derive(Debug, Clone, PartialEq, Eq, sqlx_macros::FromRow)]
pub struct AbandonedIntent {
    pub id: Uuid,
    pub tenant: String,
    /// The runtime that was registered for it.
    pub runtime_id: Option<Uuid>,
    /// When it was begun.
    pub created_at: Moment,
}

/// An order that was begun, now or by an earlier call with the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub id: Uuid,
    /// Whether this call began it.
    pub new: bool,
    /// Whether it was begun with the same request.
    pub digest_matches: bool,
    /// The runtime that was registered for it.
    pub runtime: Option<Uuid>,
    /// The operation that answers it.
    pub operation: Option<Uuid>,
    /// When it was begun.
    pub created_at: Timestamp,
}

#[derive(sqlx_macros::FromRow)]
struct Row {
    id: Uuid,
    digest: Vec<u8>,
    runtime_id: Option<Uuid>,
    operation_id: Option<Uuid>,
    created_at: Moment,
}

impl ProvisionerStore {
    /// Begins an order, or finds the one that the tenant began with the same key. `digest` stands for
    /// the request: the same bytes for the same request, at any time. Only a keyed digest of them is
    /// kept.
    pub async fn begin_intent(
        &self,
        tenant: &str,
        key: Option<&str>,
        digest: &[u8],
    ) -> Result<Intent, Error> {
        for _ in 0..TRIES {
            if let Some(intent) = self.store_intent(tenant, key, digest).await? {
                return Ok(intent);
            }
            // From the writer: what was in the way may be newer than what readers see.
            let found: Option<Row> = on!(self.database().writer(), |pool| {
                sqlx::query_as(FIND).bind(tenant).bind(key).fetch_optional(pool).await
            })?;
            let Some(row) = found else { continue };
            return Ok(Intent {
                id: row.id,
                new: false,
                digest_matches: self.sealer.digest_matches(LABEL, digest, &row.digest),
                runtime: row.runtime_id,
                operation: row.operation_id,
                created_at: row.created_at.into(),
            });
        }
        Err(Error::Contended)
    }

    /// The new intent; `None` when there is one with that key.
    async fn store_intent(
        &self,
        tenant: &str,
        key: Option<&str>,
        digest: &[u8],
    ) -> Result<Option<Intent>, Error> {
        let (id, now) = (Uuid::now_v7(), self.clock.now());
        let stored = on!(self.database().writer(), |pool| {
            sqlx::query(BEGIN)
                .bind(id)
                .bind(tenant)
                .bind(key)
                .bind(self.sealer.digest(LABEL, digest))
                .bind(Moment::from(now))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok((stored == 1).then_some(Intent {
            id,
            new: true,
            digest_matches: true,
            runtime: None,
            operation: None,
            created_at: now,
        }))
    }

    /// Notes which runtime was registered for an intent. Refused when the intent was dropped or has
    /// another runtime: then this registration is nobody's, and the caller undoes it.
    pub async fn note_registered(&self, intent: Uuid, runtime: Uuid) -> Result<(), Error> {
        let noted = on!(self.database().writer(), |pool| {
            sqlx::query(REGISTERED)
                .bind(intent)
                .bind(runtime)
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        if noted == 1 {
            return Ok(());
        }
        Err(Error::Refused(format!(
            "intent {intent} is gone or has another runtime than {runtime}"
        )))
    }

    /// Drops an intent that no operation answers, and says whether it did.
    pub async fn drop_intent(&self, intent: Uuid) -> Result<bool, Error> {
        let dropped = on!(self.database().writer(), |pool| {
            sqlx::query(DROP).bind(intent).execute(pool).await.map(|done| done.rows_affected())
        })
        .map_err(Error::writing)?;
        Ok(dropped == 1)
    }

    /// Forgets an intent that this operation answers: its key begins another order from now on.
    pub async fn forget_intent(&self, intent: Uuid, operation: Uuid) -> Result<(), Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(FORGET).bind(intent).bind(operation).execute(pool).await.map(drop)
        })
        .map_err(Error::writing)
    }

    /// Notes a registration that nobody wants, as an intent that nobody goes on with: it is cleaned up
    /// after like every other one. Returns the intent's id.
    pub async fn note_orphan(&self, tenant: &str, runtime: Uuid) -> Result<Uuid, Error> {
        let id = Uuid::now_v7();
        on!(self.database().writer(), |pool| {
            sqlx::query(ORPHAN)
                .bind(id)
                .bind(tenant)
                .bind(self.sealer.digest(LABEL, b""))
                .bind(runtime)
                .bind(Moment::from(self.clock.now()))
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)?;
        Ok(id)
    }

    /// A key for an order that comes without one: the same for the same request.
    pub fn content_key(&self, request: &[u8]) -> String {
        let digest = self.sealer.digest(CONTENT, request);
        let mut key = "content/".to_owned();
        for byte in digest {
            let _ = write!(key, "{byte:02x}");
        }
        key
    }

    /// At most `most` intents begun before `older_than` that no operation answers, oldest first, behind the last one of the page
    /// before.
    pub async fn abandoned_intents(
        &self,
        older_than: Timestamp,
        after: Option<&AbandonedIntent>,
        most: u32,
    ) -> Result<Vec<AbandonedIntent>, Error> {
        let before = Moment::from(older_than);
        let first = (Moment::from(Timestamp::UNIX_EPOCH), Uuid::nil());
        let (at, id) = after.map_or(first, |after| (after.created_at, after.id));
        let found = on!(self.database().reader(), |pool| {
            sqlx::query_as(ABANDONED)
                .bind(before)
                .bind(i64::from(most))
                .bind(at)
                .bind(id)
                .fetch_all(pool)
                .await
        })?;
        Ok(found)
    }

    /// Forgets answered intents begun before `older_than`; returns how many. From then on their keys
    /// begin new orders.
    pub async fn trim_intents(&self, older_than: Timestamp) -> Result<u64, Error> {
        let before = Moment::from(older_than);
        on!(self.database().writer(), |pool| {
            sqlx::query(TRIM).bind(before).execute(pool).await.map(|done| done.rows_affected())
        })
        .map_err(Error::writing)
    }
}
