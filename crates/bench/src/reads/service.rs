//! The processes: a landscape for its issuer, and a broker on a database of its own.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use reqwest::Client;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use sqlx::{ConnectOptions as _, postgres::PgConnectOptions, sqlite::SqliteConnectOptions};
use store::{SealLocation, Sealer};
use tokio::process::{Child, Command};
use uuid::Uuid;

use super::{
    Options,
    generate::{Generator, Template},
    rows::Rows,
};
use crate::{
    orders::fleet::{Connection, connection, free_ports, ready, spawn},
    postgres,
};

/// How many instances go into one statement.
const AT_ONCE: usize = 500;
const SCHEMA: &str = "broker";
/// The jobs that would work on what is generated.
const JOBS: [&str; 8] = [
    "EXPIRY",
    "RETRIGGER",
    "BINDINGS",
    "SUBACCOUNTS",
    "ENVIRONMENTS",
    "SUBSCRIPTIONS",
    "ARCHIVE",
    "DRIFT",
];

/// What pages of the console are opened with.
const SCOPES: &str = "openid runtimes:read operations:read operations:write orchestrations:read \
    orchestrations:write broker:write kubeconfig:read tenants:any";

/// Everything that runs; gone when this value is.
pub(crate) struct Service {
    broker: Option<Child>,
    _landscape: Child,
    connection: Connection,
    program: PathBuf,
    url: String,
    port: u16,
    folder: PathBuf,
    /// Settings of the broker besides its own, as variables.
    settings: Vec<(&'static str, &'static str)>,
    // Behind the processes, so that they go first.
    server: Option<postgres::Server>,
    _folder: Folder,
}

/// A folder that goes with this value.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Service {
    /// Starts a broker on an empty database.
    pub(crate) async fn prepare(options: &Options) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("kcp-bench-{}", Uuid::new_v4().simple()));
        fs::create_dir(&folder)?;
        let owned = Folder(folder.clone());
        let server = if options.sqlite {
            None
        } else {
            let binaries = options.postgres_bin.clone();
            let start = move || postgres::Server::start(binaries.as_deref(), "1GB");
            Some(tokio::task::spawn_blocking(start).await??)
        };
        let url = match &server {
            Some(server) => server.url(),
            None => format!("sqlite://{}", folder.join("broker.db").display()),
        };
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe()?,
        };
        let mut landscape = Command::new(&program);
        landscape.arg("--data").arg(&folder).arg("landscape");
        landscape.args(["--port", &free_ports(4)?.to_string(), "--speed", "max"]);
        let landscape = spawn(landscape, &folder, "landscape")?;
        let connection = connection(&folder).await?;
        let port = free_ports(1)?;
        let mut service = Self {
            broker: None,
            _landscape: landscape,
            connection,
            program,
            url,
            port,
            folder,
            settings: Vec::new(),
            server,
            _folder: owned,
        };
        service.start().await?;
        Ok(service)
    }

    /// Settings of the broker from its next start on, as variables.
    pub(crate) fn set(&mut self, settings: &[(&'static str, &'static str)]) {
        self.settings.extend(settings);
    }

    /// Kills the broker.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        match self.broker.take() {
            Some(mut broker) => broker.kill().await.context("the broker cannot be stopped"),
            None => Ok(()),
        }
    }

    /// Starts the broker.
    pub(crate) async fn start(&mut self) -> anyhow::Result<()> {
        let mut command = Command::new(&self.program);
        command.arg("broker").arg("--config").arg(self.folder.join("broker.toml"));
        command.env("KCP_BROKER_LISTEN", format!("127.0.0.1:{}", self.port));
        command.env("KCP_BROKER_DATABASE_URL", &self.url).env("KCP_BROKER_LOG", "warn");
        // The console, behind a sign-in at the landscape.
        command.env("KCP_BROKER_CONSOLE_URL", self.address());
        command.env("KCP_BROKER_CONSOLE_CLIENT_ID", "kcp").env("KCP_BROKER_CONSOLE_SCOPES", SCOPES);
        for job in JOBS {
            command.env(format!("KCP_BROKER_JOB_{job}_ENABLED"), "false");
        }
        command.envs(self.settings.iter().copied());
        self.broker = Some(spawn(command, &self.folder, "broker")?);
        let log = self.folder.join("broker.log");
        ready(&self.address()).await.with_context(|| fs::read_to_string(log).unwrap_or_default())
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn token(&self) -> &SecretString {
        &self.connection.token
    }

    /// The user who signs in, and the password.
    pub(crate) fn user(&self) -> (&str, &SecretString) {
        (&self.connection.user, &self.connection.password)
    }

    /// The broker's process.
    pub(crate) fn process(&self) -> anyhow::Result<u32> {
        self.broker.as_ref().and_then(Child::id).context("the broker does not run")
    }

    /// Orders one instance, keeps what came of it, and stops the broker.
    pub(crate) async fn template(&mut self) -> anyhow::Result<Template> {
        const INSTANCE: &str = "11111111-1111-4111-8111-111111111111";
        let path =
            format!("/oauth/cf-eu10/v2/service_instances/{INSTANCE}?accepts_incomplete=true");
        let order = json!({
            "service_id": "47c9dcbf-ff30-448e-ab36-d3bad66ba281",
            "plan_id": "361c511f-f939-4621-b228-d0fb79a1fe15",
            "context": {
                "platform": "kyma", "globalaccount_id": "bench", "subaccount_id": "bench-sub",
                "user_id": "bench@example.test",
            },
            "parameters": {"name": "bench", "region": "eu-central-1"},
        });
        let request = Client::new().put(format!("{}{path}", self.address())).json(&order);
        let request = request.header("x-broker-api-version", "2.17");
        let answer = request.bearer_auth(self.token().expose_secret()).send().await?;
        let (status, body) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "an order is answered with {status}: {body}");
        self.kill().await?;
        let sealer = Sealer::from_file_or_create(&self.folder.join("sealing.key"))?;
        let mut rows = self.rows().await?;
        let (ordered, id, input, data) = rows.only_order().await?;
        rows.empty().await?;
        let open = |table, column, row: &str, sealed: &[u8]| {
            sealer.open(SealLocation { table, column, row }, sealed)
        };
        let row = id.to_string();
        let order = serde_json::from_slice(&open("instances", "ordered", INSTANCE, &ordered)?)?;
        let input = serde_json::from_slice(&open("operation_inputs", "input", &row, &input)?)?;
        let data = open("operation_data", "data", &row, &data)?;
        Ok(Template { order, input, data, sealer })
    }

    /// Stores everything that is generated.
    pub(crate) async fn fill(&self, generator: &Generator) -> anyhow::Result<()> {
        let mut rows = self.rows().await?;
        let mut printed = Instant::now();
        for from in (0..generator.count).step_by(AT_ONCE) {
            let some = generator.rows(from..generator.count.min(from + AT_ONCE))?;
            rows.store(&some).await.context("instances cannot be stored")?;
            if printed.elapsed() > Duration::from_secs(10) {
                eprintln!("  {from} of {}", generator.count);
                printed = Instant::now();
            }
        }
        rows.settle().await
    }

    pub(crate) async fn rows(&self) -> anyhow::Result<Rows> {
        if self.server.is_none() {
            let options = self.url.parse::<SqliteConnectOptions>()?;
            return Ok(Rows::Sqlite(Box::new(options.connect().await?)));
        }
        let mut connection = self.url.parse::<PgConnectOptions>()?.connect().await?;
        // Generated rows may be lost with the server.
        let text = format!("SET search_path = {SCHEMA}; SET synchronous_commit = off");
        sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(&mut connection).await?;
        Ok(Rows::Postgres(Box::new(connection)))
    }
}
