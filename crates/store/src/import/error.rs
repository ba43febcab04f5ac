//! Why a database cannot be imported at all. What is wrong with one row is a finding of the report instead.

/// Why a database cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is not that of a PostgreSQL server.
    #[error("import: opening the source database: its URL must begin with postgres://")]
    NotPostgres,
    /// It does not answer, or does not let us in.
    #[error("import: opening the source database at {location}")]
    Unreachable {
        /// Where it is, without who we are there.
        location: String,
        #[source]
        source: sqlx::Error,
    },
    /// It does not answer in time.
    #[error("import: opening the source database at {location}: no answer within {seconds} s")]
    Silent {
        /// Where it is.
        location: String,
        /// How long was waited.
        seconds: u64,
    },
    /// It is the database of something else.
    #[error(
        "import: reading the source database: it is not the database of {program}: {missing} is missing"
    )]
    Missing {
        /// The program that the database should belong to.
        program: &'static str,
        /// Tables and columns.
        missing: String,
    },
    /// A statement failed.
    #[error("import: reading the source database: {doing} failed")]
    Read {
        /// The attempted action.
        doing: &'static str,
        #[source]
        source: sqlx::Error,
    },
    /// The key is of no use.
    #[error("import: reading the source's key: {0}")]
    Key(String),
    /// Our own database failed.
    #[error("import: writing to the database of kcp")]
    Write(#[source] crate::Error),
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Write(error)
    }
}
