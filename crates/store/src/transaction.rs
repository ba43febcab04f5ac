//! A write transaction of either database, and what the process is notified of once it has landed.
//!
//! What a reader would get wrong: any future may be dropped at any await, also while BEGIN or COMMIT waits
//! for its answer. sqlx's own transaction counts as begun only after the answer, so a BEGIN that was dropped
//! would go back into the pool inside of a transaction. Here a connection counts as begun from before BEGIN is
//! sent until COMMIT or ROLLBACK was answered. Dropped in between, it is rolled back in a task of its own, and
//! closed when that does not succeed.

use std::time::Duration;

use base::Clock;
use futures::future::BoxFuture;
use sqlx::{Postgres, Sqlite, pool::PoolConnection, raw_sql};
use tracing::warn;

use crate::{
    Error,
    database::{Backend, Connection, Pool},
};

/// How long a dropped transaction may take to roll back before its connection is closed.
const ROLLBACK_LIMIT: Duration = Duration::from_secs(5);

/// A write transaction; rolled back when dropped.
#[must_use]
pub struct Transaction {
    inner: Backend<OpenTransaction<Postgres>, OpenTransaction<Sqlite>>,
    afterwards: Vec<Box<dyn FnOnce() + Send>>,
}

impl Transaction {
    /// SQLite takes its write lock at once: a transaction that first reads and then writes would
    /// fail as busy without waiting.
    /// With the planted bug a connection counts as begun only after the answer, and as ended before it.
    pub(crate) async fn begin(pool: &Pool, planted: bool) -> Result<Self, Error> {
        let inner = match pool {
            Backend::Postgres(pool) => {
                let connection = pool.acquire().await?;
                Backend::Postgres(OpenTransaction::begin(connection, "BEGIN", planted).await?)
            }
            Backend::Sqlite(pool) => {
                let connection = pool.acquire().await?;
                Backend::Sqlite(
                    OpenTransaction::begin(connection, "BEGIN IMMEDIATE", planted).await?,
                )
            }
        };
        Ok(Self { inner, afterwards: Vec::new() })
    }

    /// The connection to write on.
    pub fn connection(&mut self) -> Connection<'_> {
        match &mut self.inner {
            Backend::Postgres(begun) => Backend::Postgres(begun.connection()),
            Backend::Sqlite(begun) => Backend::Sqlite(begun.connection()),
        }
    }

    /// Runs `then` once this transaction has landed; never, when it does not.
    pub fn afterwards(&mut self, then: impl FnOnce() + Send + 'static) {
        self.afterwards.push(Box::new(then));
    }

    /// Makes everything permanent. Once begun, it goes on to its end even if the caller gives up.
    pub async fn commit(self) -> Result<(), Error> {
        let Self { inner, afterwards } = self;
        let committing = tokio::spawn(async move {
            on!(inner, |begun| begun.end("COMMIT").await).map_err(Error::writing)?;
            for then in afterwards {
                then();
            }
            Ok(())
        });
        match committing.await {
            Ok(committed) => committed,
            Err(stopped) => match stopped.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is being shut down.
                Err(_) => Err(Error::InDoubt(sqlx::Error::PoolClosed)),
            },
        }
    }

    /// Undoes everything, and waits until it is undone.
    pub async fn rollback(self) -> Result<(), Error> {
        on!(self.inner, |begun| begun.end("ROLLBACK").await)?;
        Ok(())
    }
}

/// A pooled connection that is, or may be, inside of a transaction.
struct OpenTransaction<DB: Statements> {
    /// `None` once the transaction has ended.
    connection: Option<PoolConnection<DB>>,
    planted: bool,
}

impl<DB: Statements> OpenTransaction<DB> {
    async fn begin(
        mut connection: PoolConnection<DB>,
        statement: &'static str,
        planted: bool,
    ) -> Result<Self, sqlx::Error> {
        if planted {
            DB::execute(&mut connection, statement).await?;
            return Ok(Self { connection: Some(connection), planted });
        }
        let mut begun = Self { connection: Some(connection), planted };
        DB::execute(begun.connection(), statement).await?;
        Ok(begun)
    }

    fn connection(&mut self) -> &mut DB::Connection {
        self.connection.as_mut().expect("a transaction has its connection until it ends")
    }

    /// Ends the transaction; only the answer proves that the connection can be used again.
    async fn end(mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        let ended = DB::execute(self.connection(), statement).await;
        if ended.is_ok() || self.planted {
            self.connection = None;
        }
        ended
    }
}

impl<DB: Statements> Drop for OpenTransaction<DB> {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            connection.close_on_drop();
            return;
        };
        runtime.spawn(async move {
            let clock = Clock::running();
            let rolled_back = tokio::select! {
                rolled_back = DB::execute(&mut connection, "ROLLBACK") => rolled_back,
                () = clock.sleep(ROLLBACK_LIMIT) => Err(sqlx::Error::PoolTimedOut),
            };
            if let Err(error) = rolled_back {
                warn!(%error, "rollback of a dropped transaction failed, closing its connection");
                connection.close_on_drop();
            }
        });
    }
}

/// Statements that begin and end transactions, as text and outside of sqlx's own count of them.
trait Statements: sqlx::Database {
    fn execute<'c>(
        connection: &'c mut Self::Connection,
        statement: &'static str,
    ) -> BoxFuture<'c, Result<(), sqlx::Error>>;
}

macro_rules! statements {
    ($($database:ty),+) => {$(
        impl Statements for $database {
            fn execute<'c>(
                connection: &'c mut Self::Connection,
                statement: &'static str,
            ) -> BoxFuture<'c, Result<(), sqlx::Error>> {
                Box::pin(async move { raw_sql(statement).execute(connection).await.map(drop) })
            }
        }
    )+};
}

statements!(Postgres, Sqlite);
