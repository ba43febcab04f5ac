//! PostgreSQL or SQLite behind one type.
//!
//! SQLite has one writer: reads go to a pool of their own, writes share a single connection, so that
//! they queue in this process instead of failing as busy. On PostgreSQL both are the same pool.

mod open;
mod released;

use std::{fmt, time::Duration};

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::{PgConnection, PgPool, SqliteConnection, SqlitePool};

pub(crate) use self::open::postgres_options;
use self::open::{open_postgres, open_sqlite};
pub use self::released::ReleaseWatch;
use crate::{Error, Transaction};

/// The same thing of either database.
#[derive(Debug, Clone)]
pub enum Backend<P, S> {
    /// On PostgreSQL.
    Postgres(P),
    /// On SQLite.
    Sqlite(S),
}

/// Connections to share.
pub type Pool = Backend<PgPool, SqlitePool>;
/// One connection, possibly inside a transaction.
pub type Connection<'c> = Backend<&'c mut PgConnection, &'c mut SqliteConnection>;

impl Connection<'_> {
    /// The same connection, lent for a shorter time.
    pub fn lend(&mut self) -> Connection<'_> {
        match self {
            Self::Postgres(connection) => Backend::Postgres(connection),
            Self::Sqlite(connection) => Backend::Sqlite(connection),
        }
    }
}

/// Runs the same expression on whichever database it is, if need be with that database's text.
#[macro_export]
macro_rules! on {
    ($backend:expr, |$it:ident| $body:expr) => {
        match $backend {
            $crate::database::Backend::Postgres($it) => $body,
            $crate::database::Backend::Sqlite($it) => $body,
        }
    };
    ($backend:expr, $text:expr, |$sql:ident, $it:ident| $body:expr) => {
        match $backend {
            $crate::database::Backend::Postgres($it) => {
                let $sql = $text.postgres;
                $body
            }
            $crate::database::Backend::Sqlite($it) => {
                let $sql = $text.sqlite;
                $body
            }
        }
    };
}

/// How to reach a database.
#[derive(Clone)]
pub struct Options {
    /// `postgres://…` or `sqlite://path`.
    pub url: SecretString,
    /// The schema to work in; PostgreSQL only. Services in one database have one each.
    pub schema: Option<String>,
    /// How many connections at most; on SQLite these are for reading.
    pub connections: u32,
    /// How long to wait for a connection.
    pub patience: Duration,
    /// After how long PostgreSQL gives up on a statement.
    pub statement_limit: Duration,
}

impl Options {
    /// The defaults for `url`.
    pub fn new(url: impl Into<SecretString>) -> Self {
        Self {
            url: url.into(),
            schema: None,
            connections: 10,
            patience: Duration::from_secs(5),
            statement_limit: Duration::from_secs(30),
        }
    }

    /// The same, working in `schema`.
    #[must_use]
    pub fn in_schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("schema", &self.schema)
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}

/// An open database.
#[derive(Debug, Clone)]
pub struct Database {
    reader: Pool,
    writer: Pool,
    schema: Option<String>,
    released: ReleaseWatch,
}

impl Database {
    /// Opens a database, once: trying again is up to the caller.
    pub async fn open(options: &Options) -> Result<Self, Error> {
        let url = options.url.expose_secret();
        let schema = options.schema.clone();
        if let Some(name) = schema.as_deref().filter(|name| !is_plain(name)) {
            return Err(Error::Options(format!("\"{name}\" cannot be the name of a schema")));
        }
        let released = ReleaseWatch::default();
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let pool = Backend::Postgres(open_postgres(url, options, &released).await?);
            Ok(Self { reader: pool.clone(), writer: pool, schema, released })
        } else if url.starts_with("sqlite:") {
            let (reader, writer) = open_sqlite(url, options, &released).await?;
            let (reader, writer) = (Backend::Sqlite(reader), Backend::Sqlite(writer));
            Ok(Self { reader, writer, schema: None, released })
        } else {
            Err(Error::Options("the URL must begin with postgres:// or sqlite:".into()))
        }
    }

    /// Where to read.
    pub fn reader(&self) -> &Pool {
        &self.reader
    }

    /// Where to write.
    pub fn writer(&self) -> &Pool {
        &self.writer
    }

    /// The schema it works in, if one was named.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// Whether this is the embedded database.
    pub fn is_sqlite(&self) -> bool {
        matches!(self.writer, Backend::Sqlite(_))
    }

    /// Connections that came back to the pool inside of a transaction: none, unless there is a defect.
    pub fn released(&self) -> &ReleaseWatch {
        &self.released
    }

    /// Begins a transaction that may write.
    pub async fn begin(&self) -> Result<Transaction, Error> {
        Transaction::begin(&self.writer, self.released.is_off()).await
    }

    /// Asks the database for an answer: whether it is there.
    pub async fn ping(&self) -> Result<(), Error> {
        on!(&self.reader, |pool| sqlx::query("SELECT 1").execute(pool).await.map(drop))?;
        Ok(())
    }

    /// Closes all connections; what is under way finishes first.
    pub async fn close(&self) {
        on!(&self.reader, |pool| pool.close().await);
        on!(&self.writer, |pool| pool.close().await);
    }
}

/// Schema names go into SQL text and search paths, so only harmless ones are allowed.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= 40
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
