//! A PostgreSQL whose disk a test fills up and frees.
//!
//! The disk is real: a small file system in a name space that only the server sees. Where nobody may make name spaces (some
//! containers), the real server says what a full disk makes it say (SQLSTATE 53100), by triggers, or ends as it does when its
//! log has no room; standard error says so.

use std::time::Duration;

use base::Clock;
use sqlx::{AssertSqlSafe, Connection, PgConnection, raw_sql};

use super::{
    PostgresServer,
    keeper::{self, Mode},
    server::blocking,
};

/// What lies on the small disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Tables and indexes. Writes that need room fail; PostgreSQL runs on.
    Data,
    /// The write-ahead log. PostgreSQL ends when it has no room, and its recovery fails until there is some.
    Log,
}

/// A server, and the disk of a part of its files.
#[derive(Debug)]
pub struct SmallDisk {
    server: PostgresServer,
    part: Part,
    is_real: bool,
}

/// Each write fails as it does on a full disk.
const FULL: &str = "
    CREATE OR REPLACE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    DO $$ DECLARE it record; BEGIN
        FOR it IN SELECT schemaname, tablename FROM pg_tables
            WHERE schemaname NOT IN ('pg_catalog', 'information_schema') LOOP
            EXECUTE format('CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON %I.%I
                EXECUTE FUNCTION public.no_room()', it.schemaname, it.tablename);
        END LOOP;
    END $$";
const ROOM: &str = "DROP FUNCTION IF EXISTS public.no_room() CASCADE";
/// The SQLSTATE of a deadlock, and how often the statements that lock all tables are tried.
const DEADLOCK: &str = "40P01";
const TRIES: u32 = 20;

impl SmallDisk {
    /// Makes and starts a server with this part on a disk of its own.
    ///
    /// # Panics
    /// When there is no PostgreSQL or it does not start.
    pub async fn of(part: Part) -> Self {
        let mode = match part {
            Part::Data => Mode::SmallDisk { part: "data", mebibytes: 96 },
            Part::Log => Mode::SmallDisk { part: "wal", mebibytes: 32 },
        };
        let sizes = [("min_wal_size", "2MB"), ("max_wal_size", "16MB"), ("fsync", "off")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self::with(part, mode, sizes.into()).await
    }

    async fn with(part: Part, mode: Mode, mut settings: Vec<(String, String)>) -> Self {
        let started = blocking(move || {
            let is_real = keeper::has_small_disks()?;
            if !is_real {
                // The log of a usual server has larger segments.
                settings.retain(|(name, _)| !name.ends_with("_wal_size"));
            }
            let mode = if is_real { mode } else { Mode::Owned };
            Ok((is_real, PostgresServer::launch_somewhere(mode, &settings)?))
        });
        let (is_real, server) = started.await.unwrap_or_else(|error| panic!("{error}"));
        if !is_real {
            eprintln!("nobody may make a name space with a small disk here, it is imitated");
        }
        Self { server, part, is_real }
    }

    /// The address of the database `postgres`.
    pub fn url(&self) -> String {
        self.server.url("postgres")
    }

    /// Leaves no room on the disk.
    ///
    /// # Panics
    /// When the server does not obey.
    pub async fn fill(&mut self) {
        match (self.is_real, self.part) {
            (true, _) => self.server.command("fill", "full").await,
            (false, Part::Data) => self.execute(FULL).await,
            (false, Part::Log) => self.server.stop_immediately().await,
        }
    }

    /// Makes room again, and starts the server again when it has ended meanwhile, as its supervisor does.
    ///
    /// # Panics
    /// When the server does not obey.
    pub async fn free(&mut self) {
        match (self.is_real, self.part) {
            (true, _) => {
                self.server.command("free", "freed").await;
                self.is_up().await;
            }
            (false, Part::Data) => self.execute(ROOM).await,
            (false, Part::Log) => self.server.start_again().await,
        }
    }

    /// Starts the server again whenever it has ended, until it takes connections: a recovery that was under way while there
    /// was no room may still fail.
    async fn is_up(&self) {
        let clock = Clock::running();
        for _ in 0..600 {
            self.server.command("revive", "ready").await;
            if let Ok(connection) = PgConnection::connect(&self.url()).await {
                let _ = connection.close().await;
                return;
            }
            clock.sleep(Duration::from_millis(50)).await;
        }
        panic!("PostgreSQL does not come back; its log is in {}", self.server.folder().display());
    }

    /// Whether the disk is one, and not triggers.
    pub fn is_real(&self) -> bool {
        self.is_real
    }

    /// Runs all of these or none, again when others that lock the same tables were in the way.
    async fn execute(&self, statements: &'static str) {
        for _ in 0..TRIES {
            let done: Result<(), sqlx::Error> = async {
                let mut connection = PgConnection::connect(&self.url()).await?;
                raw_sql(AssertSqlSafe(statements)).execute(&mut connection).await?;
                connection.close().await
            }
            .await;
            match done {
                Ok(()) => return,
                Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(DEADLOCK) => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("each of {TRIES} tries ended in a deadlock");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[should_panic(expected = "PostgreSQL does not start")]
    async fn a_server_that_does_not_start_is_a_failure_and_not_imitated() {
        let mode = Mode::SmallDisk { part: "data", mebibytes: 96 };
        SmallDisk::with(Part::Data, mode, vec![("no_such_setting".into(), "1".into())]).await;
    }
}
