//! One trial: a database, an outside world, clients and three replicas, and what is known of them.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use base::Clock;
use engine::{OperationId, PlantedBug, Storage as _, storage::Snapshot};
use jiff::Timestamp;
use sqlx::{Connection as _, PgConnection};
use store::{
    Database, EngineStore, Options, Sealer, Set,
    engine::{Filter, Time},
    testing::PostgresServer,
};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    checker::{History, Pause},
    client::Client,
    ledger::Ledger,
    link::Link,
    replicas::{Process, Recipe, Slot},
};

/// How many replicas work at once.
const REPLICAS: usize = 3;
/// How long nothing may move while something is unfinished.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything there is.
pub(crate) struct Trial {
    pub clock: Clock,
    pub random: fastrand::Rng,
    pub server: PostgresServer,
    pub ledger: Ledger,
    pub client_link: Link,
    pub slots: Vec<Slot>,
    pub pauses: Vec<Pause>,
    pub outages: Vec<(Timestamp, Timestamp)>,
    /// The actions of the nemesis, by name.
    pub deeds: BTreeMap<&'static str, u32>,
    /// Orderly stops under way; each gives how long it took.
    pub stops: JoinSet<Option<Duration>>,
    store: EngineStore,
    recipe: Recipe,
    finals: BTreeMap<OperationId, Snapshot>,
    processes: u32,
    seed: u64,
}

impl Trial {
    pub(crate) async fn start(seed: u64, planted: PlantedBug) -> (Self, Client) {
        let mut random = fastrand::Rng::with_seed(seed);
        let clock = Clock::running();
        let folder = format!("torture-{}", Uuid::new_v4().simple());
        let logs = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        std::fs::create_dir_all(&logs).unwrap();
        println!("seed {seed}, logs in {}", logs.display());
        let keys = logs.join("keys");
        let server = PostgresServer::start(&[]).await;
        let store = open(&server.url("postgres"), &keys, PlantedBug::Nothing).await;
        store.database().migrate(Set::Engine).await.unwrap();
        let ledger = Ledger::start(clock.clone(), store.clone(), random.u64(..)).await;
        let client_link = Link::to(&server).await;
        let client_store = open(&client_link.url(&server), &keys, planted).await;
        let client = Client::new(client_store, clock.clone(), random.u64(..), 60);
        let recipe = Recipe { ledger: ledger.address(), keys, logs, planted };
        let mut trial = Self {
            clock,
            random,
            server,
            ledger,
            client_link,
            slots: Vec::new(),
            pauses: Vec::new(),
            outages: Vec::new(),
            deeds: BTreeMap::new(),
            stops: JoinSet::new(),
            store,
            recipe,
            finals: BTreeMap::new(),
            processes: 0,
            seed,
        };
        for _ in 0..REPLICAS {
            let link = Link::to(&trial.server).await;
            let process = trial.launch(&link, None);
            trial.slots.push(Slot { link, process, paused_until: None });
        }
        for slot in &mut trial.slots {
            slot.process.is_ready().await;
        }
        (trial, client)
    }

    /// Starts a process, under a new name unless told otherwise, with a clock that is wrong.
    fn launch(&mut self, link: &Link, name: Option<&str>) -> Process {
        self.processes += 1;
        let label = format!("process-{}", self.processes);
        let name = name.map_or_else(|| format!("replica {}", self.processes), ToOwned::to_owned);
        let skew = self.random.i64(-3_600..=3_600);
        Process::start(&self.recipe, &link.url(&self.server), &name, &label, skew)
    }

    /// Starts another process in the place of one; gives back the one that was there.
    pub(crate) fn replace(&mut self, at: usize, name: Option<&str>) -> Process {
        let link = self.slots[at].link.clone();
        let process = self.launch(&link, name);
        self.slots[at].paused_until = None;
        std::mem::replace(&mut self.slots[at].process, process)
    }

    pub(crate) fn did(&mut self, deed: &'static str) {
        *self.deeds.entry(deed).or_default() += 1;
    }

    /// Where the logs of the replicas are.
    pub(crate) fn logs(&self) -> &PathBuf {
        &self.recipe.logs
    }

    /// All operations as they are stored now; an error while the database is away.
    pub(crate) async fn rows(&self) -> Result<Vec<Snapshot>, store::Error> {
        let mut rows = Vec::new();
        let mut filter = Filter { most: 500, ..Filter::default() };
        loop {
            let page = self.store.list(&filter).await?;
            rows.extend(page.operations);
            filter.after = page.next;
            if filter.after.is_none() {
                return Ok(rows);
            }
        }
    }

    /// Takes note of what has become final.
    pub(crate) async fn watch_finals(&mut self) {
        let Ok(rows) = self.rows().await else { return };
        for row in rows.into_iter().filter(|row| row.state.is_final()) {
            self.finals.entry(row.id).or_insert(row);
        }
    }

    /// Waits until everything is final; the error is a dump of what is not, when nothing moves.
    pub(crate) async fn come_to_an_end(&mut self) -> Result<Duration, String> {
        let begun = self.clock.monotonic();
        let mut moved = (0, begun);
        loop {
            self.watch_finals().await;
            let rows = patiently(async || self.rows().await).await;
            let left: Vec<_> = rows.iter().filter(|row| !row.state.is_final()).collect();
            let now = self.clock.monotonic();
            if left.is_empty() {
                return Ok(now.saturating_sub(begun));
            }
            let steps = rows.iter().map(|row| row.runs + row.epoch).sum();
            if steps != moved.0 {
                moved = (steps, now);
            }
            if now.saturating_sub(moved.1) > PATIENCE {
                return Err(self.dump(&left).await);
            }
            self.clock.sleep(Duration::from_millis(200)).await;
        }
    }

    async fn dump(&self, left: &[&Snapshot]) -> String {
        let mut text = format!("{} operations do not end:\n", left.len());
        for row in left {
            let _ = writeln!(text, "{row:?}");
            for entry in self.store.journal(row.id).await.unwrap_or_default() {
                let _ = writeln!(text, "    {entry:?}");
            }
        }
        text
    }

    /// How many sessions stay inside of a transaction: older than any that a living replica has.
    pub(crate) async fn open_transactions(&self) -> i64 {
        const OLD: &str = "
            SELECT count(*) FROM pg_stat_activity
            WHERE application_name = 'kcp' AND pid <> pg_backend_pid()
              AND clock_timestamp() - xact_start > interval '2 s'";
        let url = self.server.url("postgres");
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let mut found = 0;
        // One that is old now has ended when it is asked for again, unless nobody will end it.
        for _ in 0..25 {
            found = sqlx::query_scalar(OLD).fetch_one(&mut connection).await.unwrap();
            if found == 0 {
                break;
            }
            self.clock.sleep(Duration::from_millis(200)).await;
        }
        found
    }

    /// Kills everybody, and starts everybody again once `done` has looked at what is left.
    pub(crate) async fn between_two_lives<T>(&mut self, done: impl AsyncFnOnce(&Self) -> T) -> T {
        for slot in &mut self.slots {
            slot.process.kill().await;
        }
        let result = done(self).await;
        for at in 0..self.slots.len() {
            self.replace(at, None);
        }
        result
    }

    /// Everything that was seen, for the checker.
    pub(crate) async fn history(&self, client: &Client) -> History {
        let rows = patiently(async || self.rows().await).await;
        let mut journals = BTreeMap::new();
        for row in &rows {
            let journal = patiently(async || self.store.journal(row.id).await).await;
            journals.insert(row.id, journal);
        }
        History {
            sent: client.log(),
            events: self.ledger.events(),
            rows,
            journals,
            finals: self.finals.clone(),
            pauses: self.pauses.clone(),
            outages: self.outages.clone(),
        }
    }

    /// Waits for orderly stops that are under way; the longest of them.
    pub(crate) async fn slowest_stop(&mut self) -> Duration {
        let mut slowest = Duration::ZERO;
        while let Some(stopped) = self.stops.join_next().await {
            let took = stopped.unwrap();
            slowest = slowest.max(took.unwrap_or_else(|| {
                panic!("an orderly stop does not end; {}", self.again());
            }));
        }
        slowest
    }

    /// Removes the logs: nobody needs them any more.
    pub(crate) fn succeeded(self) {
        let _ = std::fs::remove_dir_all(self.logs());
    }

    /// How to do it again, and where to look.
    pub(crate) fn again(&self) -> String {
        format!("KCP_TORTURE_SEED={}, the logs are in {}", self.seed, self.logs().display())
    }
}

/// Reads until it succeeds: connections that the nemesis has ended are found out one by one.
async fn patiently<T, E: std::fmt::Debug>(read: impl AsyncFn() -> Result<T, E>) -> T {
    for _ in 0..30 {
        if let Ok(found) = read().await {
            return found;
        }
    }
    read().await.unwrap()
}

async fn open(url: &str, keys: &Path, planted: PlantedBug) -> EngineStore {
    let options = Options {
        patience: Duration::from_secs(1),
        statement_limit: Duration::from_secs(5),
        ..Options::new(url)
    };
    let database = Database::open(&options).await.unwrap();
    let sealer = Sealer::from_file_or_create(keys).unwrap();
    EngineStore::new(database, sealer, Time::Database, planted)
}
