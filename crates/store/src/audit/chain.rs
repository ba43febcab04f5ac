//! The chain: each entry's digest covers the entry and the digest of the one before it, without gaps.
//!
//! What a reader would get wrong: entries are linked in the order in which their results became known, a moment after the fact. An
//! entry that is removed or changed after that is found by [`AuditLog::verify`]; so is one that was put in between. The digest at the
//! end is logged with every link, so that a chain that was made anew does not fit what the log says.

use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use serde::Serialize;
use sqlx_macros::FromRow;

use super::{AuditEntry, AuditLog, columns};
use crate::{
    Connection, Error, Moment,
    sql::{Text, sql},
};

/// How many entries are linked or read at a time.
pub const PAGE: usize = 500;
#[expect(clippy::cast_possible_wrap, reason = "it is small")]
const LIMIT: i64 = PAGE as i64;

sql!(HEAD = "
    SELECT seq, digest, first_seq, first_digest FROM audit_chain" wait);
const END: &str = "SELECT seq, digest, first_seq, first_digest FROM audit_chain";
const WAITING: &str = "SELECT count(*) FROM audit WHERE seq IS NULL";
// $1: what has had no result since then will get none.
const READY: Text = Text {
    postgres: concat!(
        "SELECT ",
        columns!(),
        " FROM audit WHERE seq IS NULL AND (result IS NOT NULL OR at < $1)
          ORDER BY at, id LIMIT $2 FOR UPDATE"
    ),
    sqlite: concat!(
        "SELECT ",
        columns!(),
        " FROM audit WHERE seq IS NULL AND (result IS NOT NULL OR at < $1)
          ORDER BY at, id LIMIT $2"
    ),
};
const LINK: &str = "UPDATE audit SET result = $2, seq = $3, digest = $4 WHERE id = $1";
const MOVE_END: &str = "UPDATE audit_chain SET seq = $1, digest = $2";
const LINKED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM audit WHERE seq IS NOT NULL AND seq >= $1 ORDER BY seq LIMIT $2"
);
// The longest beginning of the chain that is old as a whole.
const LAST_OLD: &str = "
    SELECT seq, digest FROM audit
    WHERE seq < COALESCE((SELECT min(seq) FROM audit WHERE seq IS NOT NULL AND at >= $1),
                         (SELECT c.seq + 1 FROM audit_chain c))
    ORDER BY seq DESC LIMIT 1";
const REMOVE: &str = "DELETE FROM audit WHERE seq <= $1";
const MOVE_BEGINNING: &str = "UPDATE audit_chain SET first_seq = $1, first_digest = $2";

#[derive(FromRow)]
struct Chain {
    seq: i64,
    digest: Vec<u8>,
    first_seq: i64,
    first_digest: Vec<u8>,
}

/// Whether the chain is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Whether every entry is what it was and where it was.
    pub whole: bool,
    /// The problem, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The first entry; what is older was removed by age.
    pub first: i64,
    /// The last entry.
    pub last: i64,
    /// The digest of the last entry, in hexadecimal.
    pub digest: String,
    /// How many entries have no place in the chain yet.
    pub waiting: i64,
}

impl AuditLog {
    /// Gives entries their places, at most one page; returns how many. Entries that have had no result since `before` are linked as
    /// unknown. One replica does it at a time.
    pub async fn link(&self, before: Timestamp) -> Result<usize, Error> {
        let database = self.0.database();
        let waiting: i64 =
            on!(database.reader(), |pool| { sqlx::query_scalar(WAITING).fetch_one(pool).await })?;
        if waiting == 0 {
            return Ok(0);
        }
        let mut transaction = database.begin().await?;
        let mut chain = head(transaction.connection()).await?;
        let ready: Vec<AuditEntry> = on!(transaction.connection(), READY, |text, connection| {
            sqlx::query_as(text).bind(Moment::from(before)).bind(LIMIT).fetch_all(connection).await
        })?;
        if ready.is_empty() {
            transaction.rollback().await?;
            return Ok(0);
        }
        for mut entry in ready.iter().cloned() {
            entry.result.get_or_insert_with(|| "unknown".to_owned());
            chain = chain.followed_by(&entry);
            on!(transaction.connection(), |connection| {
                sqlx::query(LINK)
                    .bind(entry.id)
                    .bind(&entry.result)
                    .bind(chain.seq)
                    .bind(&chain.digest)
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        on!(transaction.connection(), |connection| {
            sqlx::query(MOVE_END)
                .bind(chain.seq)
                .bind(&chain.digest)
                .execute(connection)
                .await
                .map(drop)
        })?;
        transaction.commit().await?;
        tracing::info!(target: "audit", seq = chain.seq, digest = hex::encode(&chain.digest), "audit linked");
        Ok(ready.len())
    }

    /// Removes entries from before `before`, from the beginning of the chain on; returns how many.
    pub async fn trim(&self, before: Timestamp) -> Result<u64, Error> {
        let mut transaction = self.0.database().begin().await?;
        head(transaction.connection()).await?;
        let last: Option<(i64, Vec<u8>)> = on!(transaction.connection(), |connection| {
            sqlx::query_as(LAST_OLD).bind(Moment::from(before)).fetch_optional(connection).await
        })?;
        let Some((seq, digest)) = last else {
            transaction.rollback().await?;
            return Ok(0);
        };
        on!(transaction.connection(), |connection| {
            sqlx::query(MOVE_BEGINNING)
                .bind(seq + 1)
                .bind(digest)
                .execute(connection)
                .await
                .map(drop)
        })?;
        let removed = on!(transaction.connection(), |connection| {
            sqlx::query(REMOVE).bind(seq).execute(connection).await.map(|done| done.rows_affected())
        })?;
        transaction.commit().await?;
        Ok(removed)
    }

    /// Computes every digest again, from the beginning of the chain to its end.
    pub async fn verify(&self) -> Result<Verification, Error> {
        let first = self.compute().await?;
        if first.whole {
            return Ok(first);
        }
        // Old entries may have been removed meanwhile; that does not happen twice.
        self.compute().await
    }

    async fn compute(&self) -> Result<Verification, Error> {
        let reader = || self.0.database().reader();
        let end: Chain = on!(reader(), |pool| { sqlx::query_as(END).fetch_one(pool).await })?;
        let waiting: i64 =
            on!(reader(), |pool| { sqlx::query_scalar(WAITING).fetch_one(pool).await })?;
        let mut at = end.before_first();
        let mut problem = None;
        while problem.is_none() && at.seq < end.seq {
            let page: Vec<AuditEntry> = on!(reader(), |pool| {
                sqlx::query_as(LINKED).bind(at.seq + 1).bind(LIMIT).fetch_all(pool).await
            })?;
            // Also when there are only later ones: they are no part of what is verified.
            if page.first().is_none_or(|entry| entry.seq > Some(end.seq)) {
                problem = Some(format!("entry {} is missing", at.seq + 1));
            }
            for entry in page.iter().take_while(|entry| entry.seq <= Some(end.seq)) {
                let next = at.followed_by(entry);
                if entry.seq != Some(next.seq) {
                    problem = Some(format!("entry {} is missing", next.seq));
                } else if entry.digest.as_ref() != Some(&next.digest) {
                    problem = Some(format!("entry {} is not what it was", next.seq));
                }
                if problem.is_some() {
                    break;
                }
                at = next;
            }
        }
        if problem.is_none() && at.digest != end.digest {
            problem = Some("the end of the chain is not what it was".to_owned());
        }
        Ok(Verification {
            whole: problem.is_none(),
            problem,
            first: end.first_seq,
            last: end.seq,
            digest: hex::encode(&end.digest),
            waiting,
        })
    }
}

impl Chain {
    /// The end that the chain has with this entry behind it.
    fn followed_by(&self, entry: &AuditEntry) -> Self {
        let seq = self.seq + 1;
        // A list has an order; every field stands at its place, also when it is empty.
        let fields = serde_json::json!([
            seq,
            entry.id,
            entry.at.microseconds(),
            entry.action,
            entry.subject,
            entry.issuer,
            entry.tenant,
            entry.agent,
            entry.correlation,
            entry.instance,
            entry.operation_id,
            entry.details,
            entry.result,
            entry.reason,
        ]);
        let mut covered = self.digest.clone();
        covered.extend_from_slice(fields.to_string().as_bytes());
        Self {
            seq,
            digest: digest(&SHA256, &covered).as_ref().to_vec(),
            first_seq: self.first_seq,
            first_digest: self.first_digest.clone(),
        }
    }

    /// The place before the first entry.
    fn before_first(&self) -> Self {
        Self {
            seq: self.first_seq - 1,
            digest: self.first_digest.clone(),
            first_seq: self.first_seq,
            first_digest: self.first_digest.clone(),
        }
    }
}

/// The end of the chain, held until the transaction ends.
async fn head(connection: Connection<'_>) -> Result<Chain, Error> {
    let chain = on!(connection, HEAD, |text, connection| {
        sqlx::query_as(text).fetch_one(connection).await
    })?;
    Ok(chain)
}
