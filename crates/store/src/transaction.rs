//! A write transaction of either database, and what is told to the process once it has landed.

use sqlx::{Postgres, Sqlite};

use crate::{
    Error,
    database::{Backend, Connection, Pool},
};

/// A write transaction; rolled back when dropped.
#[must_use]
pub struct Transaction {
    inner: Backend<sqlx::Transaction<'static, Postgres>, sqlx::Transaction<'static, Sqlite>>,
    afterwards: Vec<Box<dyn FnOnce() + Send>>,
}

impl Transaction {
    /// SQLite takes its write lock at once: a transaction that first reads and then writes would
    /// fail as busy without waiting.
    pub(crate) async fn begin(pool: &Pool) -> Result<Self, Error> {
        let inner = match pool {
            Backend::Postgres(pool) => Backend::Postgres(pool.begin().await?),
            Backend::Sqlite(pool) => Backend::Sqlite(pool.begin_with("BEGIN IMMEDIATE").await?),
        };
        Ok(Self { inner, afterwards: Vec::new() })
    }

    /// The connection to write on.
    pub fn connection(&mut self) -> Connection<'_> {
        match &mut self.inner {
            Backend::Postgres(transaction) => Backend::Postgres(&mut **transaction),
            Backend::Sqlite(transaction) => Backend::Sqlite(&mut **transaction),
        }
    }

    /// Runs `then` once this transaction has landed; never, when it does not.
    pub fn afterwards(&mut self, then: impl FnOnce() + Send + 'static) {
        self.afterwards.push(Box::new(then));
    }

    /// Makes everything permanent.
    pub async fn commit(self) -> Result<(), Error> {
        on!(self.inner, |transaction| transaction.commit().await).map_err(Error::writing)?;
        for then in self.afterwards {
            then();
        }
        Ok(())
    }

    /// Undoes everything, and waits until it is undone.
    pub async fn rollback(self) -> Result<(), Error> {
        on!(self.inner, |transaction| transaction.rollback().await)?;
        Ok(())
    }
}
