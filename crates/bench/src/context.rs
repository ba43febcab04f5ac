//! The context of all measurements: the server, the stored operations, and the reset between them.

use std::{cell::Cell, path::PathBuf, time::Duration};

use base::Clock;
use secrecy::SecretString;
use sqlx::{PgPool, postgres::PgPoolOptions};
use store::{Database, Sealer, Set};

use super::{Options, load, pgbench, postgres::Server, process, scale::Scale};

/// The schema of the system under test; baselines have one of their own.
pub(super) const SCHEMA: &str = "kcp";

/// Properties of the machine.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Machine {
    pub(super) cores: usize,
    pub(super) memory_gib: f64,
    pub(super) postgres: String,
    pub(super) profile: &'static str,
}

/// A prepared server and the way to it.
pub(super) struct Bench {
    pub(super) server: Server,
    /// The harness's own connections.
    pub(super) pool: PgPool,
    pub(super) sealer: Sealer,
    pub(super) scale: Scale,
    pub(super) clock: Clock,
    pub(super) program: PathBuf,
    only: Vec<String>,
    /// Step commits per second of one replica, as measured last.
    pub(super) step_rate: Cell<Option<f64>>,
}

impl Bench {
    /// Starts a server and stores what every test expects to be there.
    pub(super) async fn prepare(options: &Options, scale: Scale) -> anyhow::Result<Self> {
        let binaries = options.postgres_bin.clone();
        let server = tokio::task::spawn_blocking(move || {
            Server::start(binaries.as_deref(), scale.shared_buffers)
        })
        .await??;
        let pool = PgPoolOptions::new().max_connections(4).connect(&server.url()).await?;
        let sealer = Sealer::from_file_or_create(&server.folder().join("keys"))?;
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe()?,
        };
        let bench = Self {
            server,
            pool,
            sealer,
            scale,
            clock: Clock::running(),
            program,
            only: options.only.clone(),
            step_rate: Cell::new(None),
        };
        eprintln!("storing {} operations", scale.rows);
        bench.database().await?.migrate(Set::Engine).await?;
        load::stored(&bench, scale.rows).await?;
        pgbench::prepare(&bench).await?;
        sqlx::raw_sql("VACUUM ANALYZE").execute(&bench.pool).await?;
        Ok(bench)
    }

    /// Whether a figure was asked for.
    pub(super) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == id)
    }

    async fn database(&self) -> anyhow::Result<Database> {
        let url = SecretString::from(self.server.url());
        Ok(Database::open(&store::Options::new(url).in_schema(SCHEMA)).await?)
    }

    pub(super) async fn sleep(&self, duration: Duration) {
        self.clock.sleep(duration).await;
    }

    /// Every measurement begins with an empty log of changes.
    pub(super) async fn checkpoint(&self) -> anyhow::Result<()> {
        sqlx::raw_sql("CHECKPOINT").execute(&self.pool).await?;
        Ok(())
    }

    /// How many bytes of changes the server has logged so far.
    pub(super) async fn logged(&self) -> anyhow::Result<f64> {
        const SQL: &str = "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8";
        Ok(sqlx::query_scalar(SQL).fetch_one(&self.pool).await?)
    }

    /// Removes what the last measurement worked on; what was stored before it stays.
    pub(super) async fn put_back(&self) -> anyhow::Result<()> {
        for text in [
            "DELETE FROM kcp.operations WHERE kind = 'bench'",
            "TRUNCATE kcp.runs, base.runs",
            "DELETE FROM kcp.replicas",
            "VACUUM ANALYZE kcp.operations, kcp.operation_data, kcp.operation_inputs, kcp.replicas",
        ] {
            sqlx::raw_sql(text).execute(&self.pool).await?;
        }
        Ok(())
    }

    pub(super) async fn machine(&self) -> anyhow::Result<Machine> {
        let version: String = sqlx::query_scalar("SELECT current_setting('server_version')")
            .fetch_one(&self.pool)
            .await?;
        Ok(Machine {
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            memory_gib: process::machine_memory(),
            postgres: version,
            profile: if cfg!(debug_assertions) { "dev" } else { "release" },
        })
    }
}
