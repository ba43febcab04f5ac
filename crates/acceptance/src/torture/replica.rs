//! One replica as a process of its own. It ends when its test stops it or is gone.

use std::{io::Read as _, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use base::Clock;
use clap::Parser;
use engine::{Engine, HeartPlace, PlantedBug, Settings};
use jiff::SignedDuration;
use store::{Database, EngineStore, Options, Sealer, engine::Time};
use tokio::signal::unix::{SignalKind, signal};

use super::{outside::Outside, plans};

/// How long an orderly stop waits for what runs.
const DRAIN: Duration = Duration::from_millis(1_500);

/// Arguments of the process.
#[derive(Debug, Parser)]
#[command(name = "torture-replica")]
pub struct Arguments {
    /// Where the database is.
    #[arg(long)]
    pub database: String,
    /// The file with the keys that all replicas share.
    #[arg(long)]
    pub keys: PathBuf,
    /// Where the outside world listens.
    #[arg(long)]
    pub ledger: SocketAddr,
    /// The replica's name; a start under the same name takes over at once.
    #[arg(long)]
    pub name: String,
    /// The name of this one process.
    #[arg(long)]
    pub process: String,
    /// How long a lease lives without a heartbeat, in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    pub lease: u64,
    /// A bug to plant.
    #[arg(long, default_value = "Nothing")]
    pub planted: PlantedBug,
    /// How wrong this replica's clock is, in seconds.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub skew: i64,
}

/// Works until SIGTERM.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { database, keys, ledger, name, process, lease, planted, skew } = arguments;
    let mut terminated = signal(SignalKind::terminate())?;
    end_with_the_test();
    let clock = Clock::skewed(SignedDuration::from_secs(skew));
    let database = tokio::select! {
        biased;
        _ = terminated.recv() => return Ok(()),
        database = open(&database, &clock) => database,
    };
    let sealer = Sealer::from_file_or_create(&keys).context("the keys cannot be read")?;
    let store = EngineStore::new(database, sealer, Time::Database, planted)
        .with_local_clock(Clock::skewed(SignedDuration::from_secs(skew)));
    let settings = Settings {
        replica: Some(name),
        lease: Duration::from_millis(lease),
        workers: 8,
        in_hand: 48,
        scan: Duration::from_millis(300),
        memories: 12,
        patience: Duration::from_secs(5),
        heart: HeartPlace::Thread,
        planted,
        ..Settings::default()
    };
    let outside = Arc::new(Outside { address: ledger, process, clock: Clock::running() });
    let engine = Engine::builder(Arc::new(store), clock, settings)
        .serve(plans::build(), outside.clone())?
        .serve(plans::remove(), outside.clone())?
        .serve(plans::poison(), outside.clone())?
        .serve(plans::watch(), outside)?
        .start();
    let mut alive = engine.alive();
    tokio::spawn(async move {
        if alive.wait_for(Option::is_some).await.is_ok() {
            println!("ready");
        }
    });
    terminated.recv().await;
    engine.stop(DRAIN).await;
    Ok(())
}

/// A database that is away comes back.
async fn open(url: &str, clock: &Clock) -> Database {
    let options = Options {
        connections: 6,
        patience: Duration::from_secs(1),
        statement_limit: Duration::from_secs(5),
        ..Options::new(url)
    };
    loop {
        match Database::open(&options).await {
            Ok(database) => return database,
            Err(error) => {
                eprintln!("{}, opening again", base::failure::chain(&error));
                clock.sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Our standard input is held open by the test: when it closes, nobody is left to stop us.
fn end_with_the_test() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
}
