//! `kcp bench jobs`: what jobs cost over many instances, in memory and in time, and how long they hold a transaction.
//!
//! What a reader would get wrong: memory is how much more the broker has at most while a job runs than it had before. The instances have
//! no Shoots: what would act on all of them runs dry. One job runs for real and is killed in the middle.

mod run;
mod transactions;

use std::{fmt::Write as _, path::PathBuf, time::Instant};

use serde::Serialize;

use crate::reads::{self, generate::Generator, service::Service};
use run::Runner;

/// How much memory a job may take, in MiB.
const MOST_MEMORY: f64 = 64.0;
/// How long a job may hold one transaction, in milliseconds.
const LONGEST_TRANSACTION: f64 = 1_000.0;

/// The jobs, whether they run dry, and whether they are killed in the middle.
const JOBS: [(&str, bool, bool); 8] = [
    ("expiry", true, false),
    ("deprovision-retrigger", true, false),
    ("binding-cleanup", false, false),
    ("subaccount-cleanup", true, false),
    ("environment-cleanup", true, false),
    ("subscription-cleanup", true, false),
    ("archive", false, true),
    ("drift", false, false),
];

/// Their settings: as fast as possible.
const SETTINGS: [(&str, &str); 6] = [
    ("KCP_BROKER_JOB_EXPIRY_PLANS", "trial=1h,free=1h"),
    ("KCP_BROKER_JOB_ARCHIVE_AFTER", "1m"),
    ("KCP_BROKER_JOB_ARCHIVE_RATE", "1000000"),
    ("KCP_BROKER_JOB_BINDINGS_RATE", "1000000"),
    ("KCP_BROKER_JOB_DRIFT_SETTLED", "1m"),
    ("KCP_BROKER_JOB_ENVIRONMENTS_ALLOWED", "true"),
];

/// Options of the benchmark.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many instances there are.
    pub instances: usize,
    /// Whether they are in an embedded database.
    pub sqlite: bool,
    /// The folder of initdb, postgres and pgbench.
    pub postgres_bin: Option<PathBuf>,
    /// The program that serves; this one when absent.
    pub program: Option<PathBuf>,
}

/// One run of a job.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    pub job: &'static str,
    pub dry_run: bool,
    /// Whether the broker was killed in the middle of it.
    pub killed: bool,
    /// How it ended, or why it cannot run.
    pub state: String,
    /// How many things it was about.
    pub candidates: u64,
    /// How long it took.
    pub seconds: f64,
    /// How much more memory the broker had at most than before, in MiB.
    pub memory: f64,
    /// The longest transaction meanwhile, in milliseconds; with PostgreSQL only.
    pub longest_transaction: Option<f64>,
}

/// The measured values.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    pub instances: usize,
    /// The database.
    pub database: &'static str,
    /// How the program was built.
    pub profile: &'static str,
    pub cores: usize,
    pub figures: Vec<Figure>,
    /// How long it took to generate the instances, in seconds.
    pub generated_in: f64,
}

/// Fills a database, runs every job, and removes everything again.
pub async fn run(options: Options) -> anyhow::Result<Figures> {
    let mut service = Service::prepare(&reads::Options {
        instances: options.instances,
        times: 1,
        sqlite: options.sqlite,
        postgres_bin: options.postgres_bin,
        program: options.program,
    })
    .await?;
    service.set(&SETTINGS);
    let template = service.template().await?;
    eprintln!("generating {} instances", options.instances);
    let began = Instant::now();
    service.fill(&Generator::new(template, options.instances)).await?;
    let generated_in = began.elapsed().as_secs_f64();
    service.start().await?;
    let mut runner = Runner::new(service);
    let mut figures = Vec::new();
    for (job, dry_run, killed) in JOBS {
        eprintln!("running {job}");
        figures.push(runner.run(job, dry_run, killed).await?);
    }
    Ok(Figures {
        instances: options.instances,
        database: if options.sqlite { "SQLite" } else { "PostgreSQL" },
        profile: if cfg!(debug_assertions) { "dev" } else { "release" },
        cores: std::thread::available_parallelism().map_or(1, Into::into),
        figures,
        generated_in,
    })
}

impl Figure {
    /// The problem; none when it keeps its limits.
    fn problem(&self) -> Option<String> {
        let Self { job, state, memory, .. } = self;
        let longest = self.longest_transaction.filter(|longest| *longest > LONGEST_TRANSACTION);
        match longest {
            _ if state != "succeeded" => Some(format!("{job} {state}")),
            _ if *memory >= MOST_MEMORY => Some(format!("{job} took {memory:.0} MiB")),
            Some(longest) => Some(format!("{job} held a transaction for {longest:.0} ms")),
            None => None,
        }
    }
}

impl Figures {
    /// The heads of the columns.
    pub const HEAD: [&str; 6] =
        ["job", "state", "candidates", "s", "MiB more", "longest transaction ms"];

    /// One line per job, as cells under [`Figures::HEAD`].
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |it: &Figure| {
            let mut job = it.job.to_owned();
            if it.dry_run {
                job.push_str(" (dry run)");
            }
            if it.killed {
                job.push_str(" (killed)");
            }
            let longest = it.longest_transaction.map(|longest| format!("{longest:.0}"));
            let (seconds, memory) = (format!("{:.1}", it.seconds), format!("{:.1}", it.memory));
            vec![
                job,
                it.state.clone(),
                it.candidates.to_string(),
                seconds,
                memory,
                longest.unwrap_or_default(),
            ]
        };
        self.figures.iter().map(row).collect()
    }

    /// The summary below the table.
    pub fn summary(&self) -> String {
        let Self { instances, database, profile, cores, generated_in, .. } = self;
        let mut text = format!(
            "{instances} instances in {database}, generated in {generated_in:.0} s; {profile} build, {cores} cores\n"
        );
        for problem in self.figures.iter().filter_map(Figure::problem) {
            let _ = writeln!(text, "beyond its limits: {problem}");
        }
        text
    }

    /// Whether every job has succeeded within its limits: 64 MiB, and a second for a transaction.
    pub fn passes(&self) -> bool {
        self.figures.iter().all(|figure| figure.problem().is_none())
    }
}
