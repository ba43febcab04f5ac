//! Looks at every connection that goes back to its pool: one that is still inside of a transaction is closed,
//! counted and logged.
//!
//! Nothing here leaves a transaction behind on purpose (see `transaction.rs`); this is what tells when something
//! does. Without it, statements of others would run inside of a transaction that nobody ever commits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use base::Clock;
use sqlx::{PgConnection, Row as _, SqliteConnection, raw_sql};
use tracing::error;

/// How long a released connection may take to answer before it is closed.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Counts connections that were released inside of a transaction. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct ReleaseWatch {
    found: Arc<AtomicU64>,
    off: Arc<AtomicBool>,
}

impl ReleaseWatch {
    /// How many connections were found inside of a transaction.
    pub fn found_in_transaction(&self) -> u64 {
        self.found.load(Ordering::Relaxed)
    }

    /// Looks no more: for a planted bug that must not be healed here.
    pub(crate) fn switch_off(&self) {
        self.off.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed)
    }

    /// Whether the pool may keep this connection.
    pub(super) async fn postgres(
        &self,
        connection: &mut PgConnection,
    ) -> Result<bool, sqlx::Error> {
        // A statement sent as text begins a transaction of its own, so both times are the same, unless one was open before.
        const IN_TRANSACTION: &str = "SELECT now() <> statement_timestamp()";
        if self.is_off() {
            return Ok(true);
        }
        let answer = within(raw_sql(IN_TRANSACTION).fetch_one(connection)).await;
        match answer {
            Ok(row) => Ok(self.keeps(row.try_get::<bool, _>(0)?)),
            // "current transaction is aborted"
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("25P02") => {
                Ok(self.keeps(true))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the pool may keep this connection.
    pub(super) async fn sqlite(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<bool, sqlx::Error> {
        // Neither takes a lock; the first is refused inside of a transaction.
        const BEGIN_AND_END: &str = "BEGIN DEFERRED; ROLLBACK";
        if self.is_off() {
            return Ok(true);
        }
        match within(raw_sql(BEGIN_AND_END).execute(connection)).await {
            Ok(_) => Ok(true),
            Err(sqlx::Error::Database(_)) => Ok(self.keeps(true)),
            Err(error) => Err(error),
        }
    }

    fn keeps(&self, in_transaction: bool) -> bool {
        if in_transaction {
            self.found.fetch_add(1, Ordering::Relaxed);
            error!("database connection released inside of a transaction, closing it");
        }
        !in_transaction
    }
}

async fn within<T>(answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    let clock = Clock::running();
    tokio::select! {
        answer = answer => answer,
        () = clock.sleep(ANSWER_LIMIT) => Err(sqlx::Error::PoolTimedOut),
    }
}
