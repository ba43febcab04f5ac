//! How the pools of each database are opened.

use std::{
    fs, io, net::IpAddr, os::unix::fs::OpenOptionsExt as _, path::Path, str::FromStr as _,
    time::Duration,
};

use base::Clock;
use sqlx::{
    PgPool, SqlitePool,
    postgres::{PgConnectOptions, PgPoolOptions, PgSslMode},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tracing::warn;

use super::{Options, ReleaseWatch};
use crate::Error;

pub(super) async fn open_postgres(
    url: &str,
    options: &Options,
    released: &ReleaseWatch,
) -> Result<PgPool, Error> {
    let mut connect = postgres_options(url)?.application_name("kcp").options([
        ("statement_timeout", format!("{}ms", options.statement_limit.as_millis())),
        ("idle_in_transaction_session_timeout", "60s".into()),
        // Every statement here is meant to go by an index. Prepared plans outlive the state of the
        // tables they were made for: one made while a table was empty would scan it for ever.
        ("enable_seqscan", "off".into()),
        ("enable_hashjoin", "off".into()),
        ("enable_mergejoin", "off".into()),
        // Nor may a plan from a quiet time gather what is due by another index and sort it.
        ("enable_sort", "off".into()),
        // The plan does not depend on the values, and making it anew costs more than running it.
        ("plan_cache_mode", "force_generic_plan".into()),
        ("jit", "off".into()),
        // Starting helpers takes longer than a page does. A plan that does not know how many rows are wanted would start them for
        // every page of a large table.
        ("max_parallel_workers_per_gather", "0".into()),
    ]);
    if let Some(schema) = &options.schema {
        connect = connect.options([("search_path", schema)]);
    }
    let released = released.clone();
    let pool = PgPoolOptions::new()
        .max_connections(options.connections.max(2))
        .acquire_timeout(options.patience)
        // A broken connection shows itself at its first statement; asking first costs a round trip.
        .test_before_acquire(false)
        .after_release(move |connection, _| {
            let released = released.clone();
            Box::pin(async move { released.postgres(connection).await })
        })
        .connect_with(connect)
        .await?;
    Ok(pool)
}

/// The options in the URL; the server's certificate and name are verified unless the URL says otherwise or the
/// server is on this machine.
pub(crate) fn postgres_options(url: &str) -> Result<PgConnectOptions, Error> {
    let connect = PgConnectOptions::from_str(url)?;
    if is_local(&connect) {
        return Ok(connect);
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let explicit =
        query.split('&').any(|pair| matches!(pair.split('=').next(), Some("sslmode" | "ssl-mode")));
    if !explicit {
        return Ok(connect.ssl_mode(PgSslMode::VerifyFull));
    }
    if !matches!(connect.get_ssl_mode(), PgSslMode::VerifyFull) {
        let (host, mode) = (connect.get_host(), connect.get_ssl_mode());
        warn!("database connection to {host} is not verified: sslmode {mode:?} is set in its URL");
    }
    Ok(connect)
}

fn is_local(connect: &PgConnectOptions) -> bool {
    let host = connect.get_host();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    connect.get_socket().is_some()
        || host.starts_with('/')
        || host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

pub(super) async fn open_sqlite(
    url: &str,
    options: &Options,
    released: &ReleaseWatch,
) -> Result<(SqlitePool, SqlitePool), Error> {
    let connect = SqliteConnectOptions::from_str(url)?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(options.patience);
    if !url.contains(":memory:") && !url.contains("mode=memory") {
        create_private(connect.get_filename())
            .map_err(|error| Error::Database(sqlx::Error::Io(error)))?;
    }
    let released = released.clone();
    let writer = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(options.statement_limit)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_release(move |connection, _| {
            let released = released.clone();
            Box::pin(async move { released.sqlite(connection).await })
        });
    let reader = SqlitePoolOptions::new()
        .max_connections(options.connections.clamp(1, 8))
        .acquire_timeout(options.patience)
        .test_before_acquire(false);
    let read_only = connect.clone().read_only(true).create_if_missing(false);
    // The writer first: it switches the file to WAL.
    let writer = while_locked(options.patience, || writer.clone().connect_with(connect.clone()));
    let writer = writer.await?;
    let reader = while_locked(options.patience, || reader.clone().connect_with(read_only.clone()));
    Ok((reader.await?, writer))
}

/// SQLite keeps the mode of the file for the files beside it.
fn create_private(path: &Path) -> io::Result<()> {
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Tries again while the file is locked: SQLite does not wait for others that switch it to WAL at the same time.
async fn while_locked<T, F>(patience: Duration, open: impl Fn() -> F) -> Result<T, sqlx::Error>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let clock = Clock::running();
    loop {
        match open().await {
            Err(error) if is_locked(&error) && clock.monotonic() < patience => {
                clock.sleep(Duration::from_millis(20)).await;
            }
            opened => return opened,
        }
    }
}

fn is_locked(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    // Busy and locked, whatever the extended code says.
    let code = error.code().and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| matches!(code & 0xff, 5 | 6))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{Database, testing::Folder};

    #[tokio::test]
    async fn the_files_of_an_embedded_database_are_for_their_user_alone() {
        let folder = Folder::new("private").unwrap();
        let file = folder.path().join("kcp.db");

        let url = format!("sqlite://{}", file.display());
        let database = Database::open(&Options::new(url)).await.unwrap();

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        for beside in fs::read_dir(folder.path()).unwrap() {
            let path = beside.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
        database.close().await;
    }

    fn mode_of(url: &str) -> PgSslMode {
        postgres_options(url).unwrap().get_ssl_mode()
    }

    #[test]
    fn a_server_elsewhere_is_verified_unless_the_url_says_otherwise() {
        assert!(matches!(mode_of("postgres://kcp@db.example/kcp"), PgSslMode::VerifyFull));
        assert!(matches!(mode_of("postgres://kcp@10.1.2.3:5433/kcp"), PgSslMode::VerifyFull));
        let explicit = "postgres://kcp@db.example/kcp?application_name=x&sslmode=disable";
        assert!(matches!(mode_of(explicit), PgSslMode::Disable));
    }

    #[test]
    fn a_server_on_this_machine_needs_no_certificate() {
        for url in [
            "postgres://kcp@localhost/kcp",
            "postgres://kcp@127.0.0.1:5433/kcp",
            "postgres://kcp@[::1]/kcp",
            "postgres://kcp@%2Fvar%2Frun%2Fpostgresql/kcp",
        ] {
            assert!(matches!(mode_of(url), PgSslMode::Prefer), "{url}");
        }
    }
}
