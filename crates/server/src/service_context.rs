//! Where a service runs: its database, its keys, its name, its speed.

use std::{io, time::Duration};

use anyhow::{Context, anyhow};
use engine::PlantedBug;
use secrecy::{ExposeSecret, SecretString};
use store::{Database, EngineStore, Sealer, Set, engine::Time, rotate};
use tokio::{net::TcpStream, time::timeout};
use url::Url;

use crate::Speed;

/// The port of PostgreSQL, unless the address names another one.
const POSTGRES_PORT: u16 = 5432;
/// How long to look why a database does not answer.
const LOOK: Duration = Duration::from_secs(2);

/// Values that depend on where a service runs.
pub(crate) struct ServiceContext {
    /// The database.
    pub(crate) url: SecretString,
    /// Seals secrets.
    pub(crate) sealer: Sealer,
    /// The name under which the engine takes over from its earlier self.
    pub(crate) replica: Option<String>,
    /// How fast what it waits for is, if that is a simulated world.
    pub(crate) speed: Speed,
}

/// What the settings say of a service's database, besides its address and its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables<'a> {
    /// How many connections at most.
    pub(crate) connections: u32,
    /// The schema that the tables are in (PostgreSQL only).
    pub(crate) schema: &'a str,
}

/// What the settings say of the times of a service, besides those of its operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServiceTimes {
    /// For how long entries of the audit are kept.
    pub(crate) keep_audit: Duration,
    /// For how long running steps may go on after the order to stop.
    pub(crate) drain: Duration,
}

impl ServiceContext {
    /// Opens the database, and brings the engine's tables and those of `set` up to date.
    pub(crate) async fn store(
        &self,
        whose: &str,
        tables: Tables<'_>,
        set: Set,
    ) -> anyhow::Result<EngineStore> {
        let options = self.options(tables);
        let location = location(self.url.expose_secret());
        let database = match Database::open(&options).await {
            Ok(database) => database,
            Err(error) => {
                let cause = unreachable(self.url.expose_secret()).await;
                let error = cause.map_or_else(|| error.into(), |cause| anyhow!("{cause}"));
                return Err(error).with_context(|| {
                    format!("the {whose}'s database, {location}, cannot be opened")
                });
            }
        };
        for set in [Set::Engine, set] {
            let migrated = database.migrate(set).await;
            migrated.with_context(|| {
                format!("the {whose}'s database, {location}, cannot be brought up to date")
            })?;
        }
        database
            .check_keys(&self.sealer, &rotate::columns_of(set))
            .await
            .with_context(|| format!("the {whose}'s sealing keys cannot be used"))?;
        Ok(EngineStore::new(database, self.sealer.clone(), Time::Database, PlantedBug::Nothing))
    }

    fn options(&self, tables: Tables<'_>) -> store::Options {
        let Tables { connections, schema } = tables;
        store::Options {
            connections,
            schema: Some(schema.to_owned()),
            ..store::Options::new(self.url.clone())
        }
    }
}

/// Where a database is, without who we are there.
fn location(url: &str) -> String {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = path.trim_start_matches("//");
        return path.split('?').next().unwrap_or(path).to_owned();
    }
    match Url::parse(url) {
        Ok(parsed) => {
            let port = parsed.port().unwrap_or(POSTGRES_PORT);
            format!("{}:{port}{}", parsed.host_str().unwrap_or("localhost"), parsed.path())
        }
        Err(_) => "whose address cannot be read".into(),
    }
}

/// Why a server is not reached, as the system tells it; nothing when it is reached, or is no server. The pool of connections
/// only knows that it took too long.
async fn unreachable(url: &str) -> Option<String> {
    let parsed = Url::parse(url).ok().filter(|url| url.scheme().starts_with("postgres"))?;
    // A folder as host is a socket.
    let host = parsed.host_str().filter(|host| !host.is_empty() && !host.starts_with("%2"))?;
    let port = parsed.port().unwrap_or(POSTGRES_PORT);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let reached = timeout(LOOK, TcpStream::connect((host, port))).await;
    let cause = match reached {
        Ok(Ok(_)) => return None,
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "connection refused".to_owned()
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    };
    Some(format!("{cause} ({host}:{port})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: String) -> ServiceContext {
        ServiceContext {
            url: url.into(),
            sealer: Sealer::generate(),
            replica: None,
            speed: Speed::Times(1.0),
        }
    }

    #[test]
    fn address_schema_and_connections_of_the_settings_are_those_of_the_database() {
        let tables = Tables { connections: 7, schema: "theirs" };
        let options = place("postgres://kcp@db.example.test/kcp".into()).options(tables);

        assert_eq!(options.url.expose_secret(), "postgres://kcp@db.example.test/kcp");
        assert_eq!((options.connections, options.schema.as_deref()), (7, Some("theirs")));
    }

    async fn refusal(url: String) -> String {
        let tables = Tables { connections: 2, schema: "broker" };
        let opened = place(url).store("broker", tables, Set::Broker).await;
        format!("{:#}", opened.err().unwrap())
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_named_with_the_reason_and_without_the_password() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();

        let said = refusal(format!("postgres://kcp:hush@{free}/kcp")).await;

        assert!(said.contains(&format!("connection refused ({free})")), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }

    #[tokio::test]
    async fn a_damaged_file_is_named_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kcp.db");
        std::fs::write(&path, "this is no database, and long enough to be seen as none".repeat(9))
            .unwrap();

        let said = refusal(format!("sqlite://{}", path.display())).await;

        assert!(said.contains(path.to_str().unwrap()), "{said}");
        assert!(said.contains("not a database"), "{said}");
    }
}
