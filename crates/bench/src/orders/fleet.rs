//! The processes: a landscape, a provisioner, and replicas of the broker that die now and then.

use std::{
    convert::Infallible,
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use base::Clock;
use secrecy::SecretString;
use serde::Deserialize;
use sqlx::Connection as _;
use tokio::process::{Child, Command};

use super::{
    super::{postgres, process},
    Options,
};

/// How long a service may take until it is ready.
const START: Duration = Duration::from_secs(60);
/// How soon what a killed replica had in hand is taken over.
const LEASE: &str = "3s";
const COMMITS: &str = "SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = 'postgres'";
const LOOK: Duration = Duration::from_millis(50);

/// How the services are reached.
#[derive(Deserialize)]
pub(crate) struct Connection {
    provisioner: String,
    landscape: String,
    pub(crate) token: SecretString,
    /// The user who signs in.
    pub(crate) user: String,
    pub(crate) password: SecretString,
}

/// The most memory that services had, in MiB.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Memory {
    pub(super) broker: f64,
    pub(super) provisioner: f64,
    pub(super) landscape: f64,
}

/// Resources that the services have used since their start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Seconds of one core, all replicas of the broker together.
    pub(super) broker: f64,
    /// Seconds of one core.
    pub(super) provisioner: f64,
    /// Transactions of both.
    pub(super) commits: f64,
}

/// All processes; gone when this value is.
pub(super) struct Fleet {
    brokers: Arc<Mutex<Vec<Child>>>,
    ports: Vec<u16>,
    provisioner: Child,
    landscape: Child,
    connection: Connection,
    kills: Arc<AtomicUsize>,
    most: Arc<Mutex<f64>>,
    /// Seconds of one core that killed replicas had used.
    ended: Arc<Mutex<f64>>,
    program: PathBuf,
    url: String,
    /// Inside of the server's, and gone with it.
    folder: PathBuf,
    _server: postgres::Server,
}

impl Fleet {
    pub(super) async fn start(options: &Options) -> anyhow::Result<Self> {
        let binaries = options.postgres_bin.clone();
        let server = tokio::task::spawn_blocking(move || {
            postgres::Server::start(binaries.as_deref(), "128MB")
        })
        .await??;
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe()?,
        };
        let folder = server.folder().join("fleet");
        fs::create_dir(&folder)?;
        let url = server.url();
        let first = free_ports(4)?;
        let mut landscape = Command::new(&program);
        landscape.arg("--data").arg(&folder).arg("landscape");
        landscape.args(["--port", &first.to_string(), "--speed", "max"]);
        let landscape = spawn(landscape, &folder, "landscape")?;
        let connection = connection(&folder).await?;
        let mut provisioner = Command::new(&program);
        provisioner.arg("provisioner").arg("--config").arg(folder.join("provisioner.toml"));
        provisioner.env("KCP_PROVISIONER_DATABASE_URL", &url).env("KCP_PROVISIONER_LOG", "warn");
        let provisioner = spawn(provisioner, &folder, "provisioner")?;
        ready(&connection.provisioner).await.context("the provisioner does not become ready")?;
        let ports = (0..options.replicas).map(|_| free_ports(1)).collect::<Result<Vec<_>, _>>()?;
        let fleet = Self {
            brokers: Arc::default(),
            ports,
            provisioner,
            landscape,
            connection,
            kills: Arc::default(),
            most: Arc::default(),
            ended: Arc::default(),
            program,
            url,
            folder,
            _server: server,
        };
        for at in 0..options.replicas {
            let broker = fleet.replica(at)?;
            lock(&fleet.brokers).push(broker);
            ready(&fleet.addresses()[at]).await.context("a broker does not become ready")?;
        }
        Ok(fleet)
    }

    fn replica(&self, at: usize) -> anyhow::Result<Child> {
        let mut command = Command::new(&self.program);
        command.arg("broker").arg("--config").arg(self.folder.join("broker.toml"));
        command.env("KCP_BROKER_LISTEN", format!("127.0.0.1:{}", self.ports[at]));
        command.env("KCP_BROKER_DATABASE_URL", &self.url);
        command.env("KCP_BROKER_LEASE", LEASE).env("KCP_BROKER_LOG", "warn");
        spawn(command, &self.folder, &format!("broker-{at}"))
    }

    /// Where the replicas answer, when they do.
    pub(super) fn addresses(&self) -> Vec<String> {
        self.ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect()
    }

    pub(super) fn landscape(&self) -> &str {
        &self.connection.landscape
    }

    pub(super) fn token(&self) -> &SecretString {
        &self.connection.token
    }

    /// Kills one replica after the other and starts it again. Ends only when that cannot be done.
    pub(super) async fn kill_now_and_then(&self, every: Option<Duration>) -> anyhow::Error {
        let Some(every) = every else { return std::future::pending().await };
        match self.kill(every).await {
            Err(error) => error,
            Ok(never) => match never {},
        }
    }

    async fn kill(&self, every: Duration) -> anyhow::Result<Infallible> {
        let clock = Clock::running();
        for turn in 0.. {
            clock.sleep(every).await;
            let at = turn % self.ports.len();
            self.note_memory();
            let mut killed = lock(&self.brokers).remove(at);
            *lock(&self.ended) += killed.id().map_or(0.0, used);
            killed.kill().await.context("a replica cannot be killed")?;
            self.kills.fetch_add(1, Ordering::Relaxed);
            let broker = self.replica(at)?;
            lock(&self.brokers).insert(at, broker);
        }
        bail!("nobody is left to be killed")
    }

    pub(super) fn kills(&self) -> usize {
        self.kills.load(Ordering::Relaxed)
    }

    fn note_memory(&self) {
        let ids: Vec<u32> = lock(&self.brokers).iter().filter_map(Child::id).collect();
        let mut most = lock(&self.most);
        *most = ids.into_iter().map(peak).fold(*most, f64::max);
    }

    /// The most memory that each had.
    pub(super) fn memory(&self) -> Memory {
        self.note_memory();
        let of = |child: &Child| child.id().map_or(0.0, peak);
        let broker = *lock(&self.most);
        Memory { broker, provisioner: of(&self.provisioner), landscape: of(&self.landscape) }
    }

    /// Resources that broker and provisioner have used so far.
    pub(super) async fn usage(&self) -> anyhow::Result<Usage> {
        let brokers: Vec<u32> = lock(&self.brokers).iter().filter_map(Child::id).collect();
        let broker = *lock(&self.ended) + brokers.into_iter().map(used).sum::<f64>();
        let mut database = sqlx::PgConnection::connect(&self.url).await?;
        let commits = sqlx::query_scalar(COMMITS).fetch_one(&mut database).await?;
        database.close().await?;
        let provisioner = self.provisioner.id().map_or(0.0, used);
        Ok(Usage { broker, provisioner, commits })
    }

    /// The last log lines of the services, to investigate a failure.
    pub(super) fn last_words(&self) -> String {
        let brokers = (0..self.ports.len()).map(|at| format!("broker-{at}"));
        let all = brokers.chain(["provisioner".to_owned(), "landscape".to_owned()]);
        let words = all.map(|name| {
            let text = fs::read_to_string(log(&self.folder, &name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            format!("{name}:\n{}\n", lines[lines.len().saturating_sub(5)..].join("\n"))
        });
        words.collect()
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn peak(process: u32) -> f64 {
    process::memory(process).map_or(0.0, |(_, most)| most)
}

fn used(process: u32) -> f64 {
    process::cpu(process).unwrap_or_default()
}

fn log(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

pub(crate) fn spawn(mut command: Command, folder: &Path, name: &str) -> anyhow::Result<Child> {
    let log = File::options().create(true).append(true).open(log(folder, name))?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
    command.spawn().with_context(|| format!("{name} cannot be started"))
}

/// The first of so many ports in a row that nobody uses just now.
pub(crate) fn free_ports(count: u16) -> anyhow::Result<u16> {
    for _ in 0..1_000 {
        let first = fastrand::u16(20_000..32_000);
        if (first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return Ok(first);
        }
    }
    bail!("there are no free ports")
}

/// Waits until the landscape has said how everything is reached.
pub(crate) async fn connection(folder: &Path) -> anyhow::Result<Connection> {
    let (clock, began) = (Clock::running(), Instant::now());
    loop {
        if let Ok(text) = fs::read(folder.join("connection.json")) {
            return Ok(serde_json::from_slice(&text)?);
        }
        if began.elapsed() > START {
            let said = fs::read_to_string(log(folder, "landscape")).unwrap_or_default();
            bail!("the landscape does not start:\n{said}");
        }
        clock.sleep(LOOK).await;
    }
}

/// Waits until a service is ready.
pub(crate) async fn ready(address: &str) -> anyhow::Result<()> {
    let (clock, began, http) = (Clock::running(), Instant::now(), reqwest::Client::new());
    loop {
        let answer = http.get(format!("{address}/readyz")).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Ok(());
        }
        if began.elapsed() > START {
            bail!("nothing is ready at {address}");
        }
        clock.sleep(LOOK).await;
    }
}
