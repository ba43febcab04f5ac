//! The audit: who asked for what, from where, and what came of it. Kept beside the operations of a service, and longer.
//!
//! What a reader would get wrong: an entry is stored *before* the request is carried out, and gets its result afterwards. So nothing
//! is accepted without an entry; when the process dies in between, the entry says that the result is unknown. Its place in
//! the chain is given later, by one replica for all (`audit/chain.rs`): requests do not wait for each other.

mod chain;
mod list;

use jiff::Timestamp;
use serde::Serialize;
use sqlx_macros::FromRow;
use uuid::Uuid;

use crate::{
    EngineStore, Error, Moment,
    sql::{Text, ids, list, sql},
};

pub use chain::{PAGE, Verification};
#[cfg(test)]
pub(crate) use list::LISTS;
pub use list::{AuditFilter, AuditPage};

/// The longest text that is kept of what a caller says about itself.
const LONGEST: usize = 500;
/// The largest details that are kept, in bytes, and what stands for larger ones.
const LARGEST: usize = 8_192;
const CUT: &str = r#"{"cut":true}"#;

// The instance of an operation is looked up: requests about operations do not name it.
sql!(BEGIN = "
    INSERT INTO audit (id, at, action, subject, issuer, tenant, agent, correlation, instance,
                       operation_id, details)
    VALUES ($2, " now ", $3, $4, $5, $6, $7, $8,
            COALESCE($9, (SELECT instance FROM operations WHERE id = $10)), $10, $11)");

const FINISH: &str = "
    UPDATE audit
    SET result = $2, reason = $3, instance = COALESCE(instance, $4),
        operation_id = COALESCE(operation_id, $5)
    WHERE id = $1 AND seq IS NULL AND result IS NULL";

macro_rules! columns {
    () => {
        "id, at, action, subject, issuer, tenant, agent, correlation, instance, operation_id,
         details, result, reason, seq, digest"
    };
}
use columns;

const OF: Text = Text {
    postgres: concat!(
        "SELECT * FROM (SELECT ",
        columns!(),
        " FROM audit WHERE instance = ANY(ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))
          OR operation_id = ANY(ARRAY(SELECT jsonb_array_elements_text($2::jsonb)::uuid))
          ORDER BY at DESC, id DESC LIMIT $3) AS latest ORDER BY at, id"
    ),
    sqlite: concat!(
        "SELECT * FROM (SELECT ",
        columns!(),
        " FROM audit WHERE instance IN (SELECT value FROM json_each($1))
          OR operation_id IN (SELECT unhex(value) FROM json_each($2))
          ORDER BY at DESC, id DESC LIMIT $3) AS latest ORDER BY at, id"
    ),
};

/// A request, before it is carried out.
#[derive(Debug, Clone, Default)]
pub struct NewAuditEntry {
    /// The action, in one word.
    pub action: String,
    /// The caller, as its credentials name it.
    pub subject: String,
    /// The issuer that vouches for the caller; for a platform with a password, that it has one.
    pub issuer: String,
    /// The only tenant that the caller may speak for.
    pub tenant: Option<String>,
    /// The program that calls.
    pub agent: Option<String>,
    /// Names the request in the log.
    pub correlation: Option<String>,
    /// The instance that it is about, or the runtime in the provisioner.
    pub instance: Option<String>,
    /// The operation that it is about.
    pub operation: Option<Uuid>,
    /// Further details of the request; without secrets.
    pub details: serde_json::Value,
}

/// The result of a request.
#[derive(Debug, Clone, Default)]
pub struct AuditResult {
    /// Whether it was accepted.
    pub accepted: bool,
    /// Why not, or what the caller gave as its reason.
    pub reason: Option<String>,
    /// The instance, where the request did not name it.
    pub instance: Option<String>,
    /// The operation that carries it out.
    pub operation: Option<Uuid>,
}

/// A stored entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, FromRow)]
pub struct AuditEntry {
    /// Names the entry.
    pub id: Uuid,
    #[serde(serialize_with = "as_text")]
    at: Moment,
    /// The action.
    pub action: String,
    /// The caller.
    pub subject: String,
    /// The issuer that vouches for it.
    pub issuer: String,
    /// The only tenant that it may speak for.
    pub tenant: Option<String>,
    /// The program that called.
    pub agent: Option<String>,
    /// Names the request in the log.
    pub correlation: Option<String>,
    /// The instance.
    pub instance: Option<String>,
    /// The operation.
    pub operation_id: Option<Uuid>,
    /// Further details of the request, as JSON.
    pub details: String,
    /// `accepted`, `refused`, `unknown`; nothing while it is carried out.
    pub result: Option<String>,
    /// Why.
    pub reason: Option<String>,
    #[serde(skip)]
    seq: Option<i64>,
    #[serde(skip)]
    digest: Option<Vec<u8>>,
}

impl AuditEntry {
    /// When it was asked for.
    pub fn at(&self) -> Timestamp {
        self.at.into()
    }

    /// Its number in the chain; none before it is linked.
    pub fn number(&self) -> Option<i64> {
        self.seq
    }
}

/// The audit of one service. Clones are the same one.
#[derive(Clone)]
pub struct AuditLog(EngineStore);

impl AuditLog {
    /// The audit beside these operations.
    pub fn new(store: EngineStore) -> Self {
        Self(store)
    }

    /// Stores that something is asked for, before it is carried out.
    pub async fn begin(&self, new: &NewAuditEntry) -> Result<Uuid, Error> {
        let id = Uuid::now_v7();
        let text = |text: &Option<String>| text.as_deref().map(kept);
        let now = self.0.now();
        let details = new.details.to_string().replace("\\u0000", "\u{fffd}");
        let details = if details.len() > LARGEST { CUT.to_owned() } else { details };
        on!(self.0.database().writer(), BEGIN, |text_of, pool| {
            sqlx::query(text_of)
                .bind(now)
                .bind(id)
                .bind(kept(&new.action))
                .bind(kept(&new.subject))
                .bind(kept(&new.issuer))
                .bind(text(&new.tenant))
                .bind(text(&new.agent))
                .bind(text(&new.correlation))
                .bind(text(&new.instance))
                .bind(new.operation)
                .bind(&details)
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)?;
        Ok(id)
    }

    /// Stores what came of it.
    pub async fn finish(&self, id: Uuid, result: &AuditResult) -> Result<(), Error> {
        let text = |text: &Option<String>| text.as_deref().map(kept);
        on!(self.0.database().writer(), |pool| {
            sqlx::query(FINISH)
                .bind(id)
                .bind(if result.accepted { "accepted" } else { "refused" })
                .bind(text(&result.reason))
                .bind(text(&result.instance))
                .bind(result.operation)
                .execute(pool)
                .await
                .map(drop)
        })
        .map_err(Error::writing)
    }

    /// The latest entries about some instances and operations, oldest first.
    pub async fn of(
        &self,
        instances: &[String],
        operations: &[Uuid],
        most: u32,
    ) -> Result<Vec<AuditEntry>, Error> {
        let entries = on!(self.0.database().reader(), OF, |text, pool| {
            sqlx::query_as(text)
                .bind(list(instances))
                .bind(ids(operations))
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
        })?;
        Ok(entries)
    }
}

/// A text as it can be stored, and not longer than it is worth.
fn kept(text: &str) -> String {
    text.chars()
        .take(LONGEST)
        .map(|letter| if letter == '\0' { '\u{fffd}' } else { letter })
        .collect()
}

fn as_text<S: serde::Serializer>(at: &Moment, to: S) -> Result<S::Ok, S::Error> {
    Timestamp::from(*at).serialize(to)
}
