//! Errors of the store, and their consequences for the writer.
//!
//! The one distinction that matters: whether nothing was written, or nobody can say.

use engine::StorageError;
use sqlx::migrate::MigrateError;

use crate::sealed::SealError;

/// A failed call of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings cannot be right.
    #[error("{0}")]
    Options(String),
    /// A statement failed, and what it was to write is not written.
    #[error("database statement failed")]
    Database(#[from] sqlx::Error),
    /// The connection broke while a write was made permanent.
    #[error("connection lost during commit, outcome unknown")]
    InDoubt(#[source] sqlx::Error),
    /// The tables are not what this version needs, and could not be made so.
    #[error("database migration failed")]
    Migration(#[from] MigrateError),
    /// A stored secret does not open.
    #[error("stored value cannot be decrypted")]
    Sealed(#[from] SealError),
    /// The keys of this process do not open what is stored.
    #[error("{0}")]
    WrongKeys(String),
    /// This version cannot read a stored value.
    #[error("invalid stored value: {0}")]
    Unreadable(String),
    /// Others were faster each time; nothing is written, and another try may succeed.
    #[error("rows changed concurrently, giving up after several tries")]
    Contended,
    /// A rule says no.
    #[error("{0}")]
    Refused(String),
}

/// The consequence of a failure for the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The connection broke: a write that was under way may have landed.
    Broken,
    /// Nothing was written; another try may succeed.
    Passing,
    /// Nothing was written: these values are not acceptable.
    Data,
    /// Nothing was written, whatever the values are: tables and statements do not fit.
    Misfit,
}

impl Error {
    /// The consequence for the writer.
    pub fn trouble(&self) -> Trouble {
        match self {
            Self::InDoubt(_) => Trouble::Broken,
            Self::Contended => Trouble::Passing,
            Self::Database(error) | Self::Migration(MigrateError::Execute(error)) => trouble(error),
            Self::Refused(_) => Trouble::Data,
            _ => Trouble::Misfit,
        }
    }

    /// From a statement that makes a write permanent: a COMMIT, or a lone write.
    pub fn writing(error: sqlx::Error) -> Self {
        if trouble(&error) == Trouble::Broken {
            Self::InDoubt(error)
        } else {
            Self::Database(error)
        }
    }
}

impl From<Error> for StorageError {
    fn from(error: Error) -> Self {
        let text = base::failure::chain(&error);
        match error.trouble() {
            _ if matches!(error, Error::InDoubt(_)) => Self::Unknown(text),
            Trouble::Broken | Trouble::Passing => Self::Unavailable(text),
            Trouble::Data | Trouble::Misfit => Self::Refused(text),
        }
    }
}

fn trouble(error: &sqlx::Error) -> Trouble {
    match error {
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::BeginFailed => {
            Trouble::Passing
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => Trouble::Broken,
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            if error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
                sqlite_trouble(&code)
            } else {
                postgres_trouble(&code)
            }
        }
        _ => Trouble::Misfit,
    }
}

fn postgres_trouble(code: &str) -> Trouble {
    match (code.get(..2).unwrap_or_default(), code) {
        // The server went away in the middle, perhaps after it had written.
        ("08", _) | (_, "57P01" | "57P02") => Trouble::Broken,
        ("22" | "23" | "44", _) => Trouble::Data,
        ("42" | "0A", _) => Trouble::Misfit,
        // Conflicts, deadlocks, full disks, read-only phases, starting up, timeouts.
        _ => Trouble::Passing,
    }
}

fn sqlite_trouble(code: &str) -> Trouble {
    // The low byte is the primary code.
    match code.parse::<u32>().unwrap_or_default() & 0xff {
        // Internal, busy, locked, no memory, read-only, interrupted, full, cannot open, protocol.
        2 | 5 | 6 | 7 | 8 | 9 | 13 | 14 | 15 => Trouble::Passing,
        // Input or output failed, perhaps while committing.
        10 => Trouble::Broken,
        // Too big, against a constraint, of the wrong type.
        18..=20 => Trouble::Data,
        _ => Trouble::Misfit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_breaks_leaves_only_a_commit_in_doubt() {
        let broken = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());

        assert!(matches!(Error::from(broken()).into(), StorageError::Unavailable(_)));
        assert!(matches!(Error::writing(broken()).into(), StorageError::Unknown(_)));
    }

    #[test]
    fn codes_say_whether_another_try_can_help() {
        assert!(matches!(Error::Contended.into(), StorageError::Unavailable(_)));
        assert_eq!(postgres_trouble("40P01"), Trouble::Passing);
        assert_eq!(postgres_trouble("25006"), Trouble::Passing);
        assert_eq!(postgres_trouble("53100"), Trouble::Passing);
        assert_eq!(postgres_trouble("23505"), Trouble::Data);
        assert_eq!(postgres_trouble("42P01"), Trouble::Misfit);
        assert_eq!(postgres_trouble("57P01"), Trouble::Broken);
        assert_eq!(sqlite_trouble("2067"), Trouble::Data);
        assert_eq!(sqlite_trouble("5"), Trouble::Passing);
    }
}
