//! `kcp bench`: how fast it is on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use bench::{
    Options, Report, jobs, orders, overhead, reads,
    runtimes::{self, Load},
};
use clap::{Args, Subcommand};

use crate::{connection, output};

/// Measure the performance on this machine.
#[derive(Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    Engine(Engine),
    Runtimes(Runtimes),
    Orders(Orders),
    Mixed(Mixed),
    Overhead(Overhead),
    Reads(Reads),
    Fleet(Fleet),
    Jobs(Jobs),
    /// One replica of the benchmark, as a process of its own.
    #[command(hide = true)]
    Replica,
}

/// Measure the engine as ratios against baselines of the same run.
#[derive(Args)]
struct Engine {
    /// The number of rounds of baseline and system [default: 5, short: 1].
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// The seconds that one measurement takes, after its warm-up [default: 10, short: 1].
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// How often a disturbed round is repeated before its figures count as noisy.
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeats: usize,
    /// Only test the benchmark itself: small, quick, never judged.
    #[arg(long)]
    short: bool,
    /// The folder of initdb, postgres and pgbench.
    #[arg(long, value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
    /// The file for all figures as JSON.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these figures.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    only: Vec<String>,
    /// The number of operations stored before the measurements.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    rows: usize,
}

/// Create many runtimes at once in the control plane on this machine, and remove them.
#[derive(Args)]
struct Runtimes {
    /// The number of runtimes.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    runtimes: usize,
    /// The release of Kyma to install in each.
    #[arg(long, value_name = "VERSION")]
    kyma: Option<String>,
}

/// Send many orders at once to replicas of the broker that are killed while they work, and remove everything again.
#[derive(Args)]
struct Orders {
    /// The number of orders.
    #[arg(long = "orders", value_name = "N", default_value_t = 1_000)]
    count: usize,
    /// The number of replicas.
    #[arg(long, value_name = "N", default_value_t = 3)]
    replicas: usize,
    /// The number of seconds between two kills; 0 for none.
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    kill_every: f64,
    /// The folder of initdb, postgres and pgbench.
    #[arg(long, value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
}

/// Send orders, changes and removals at once to replicas of the broker that are killed while they work, then change one instance many
/// times; remove everything again.
#[derive(Args)]
struct Mixed {
    /// The number of orders, of changes and of removals.
    #[arg(long, value_name = "N", default_value_t = 100)]
    each: usize,
    /// The number of changes of one instance.
    #[arg(long, value_name = "N", default_value_t = 300)]
    updates: usize,
    /// The number of replicas.
    #[arg(long, value_name = "N", default_value_t = 3)]
    replicas: usize,
    /// The number of seconds between two kills; 0 for none.
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    kill_every: f64,
    /// The folder of initdb, postgres and pgbench.
    #[arg(long, value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
}

impl Mixed {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let every = std::time::Duration::try_from_secs_f64(self.kill_every)?;
        let options = orders::Options {
            orders: self.each,
            replicas: self.replicas,
            kill_every: (!every.is_zero()).then_some(every),
            postgres_bin: self.postgres_bin,
            program: None,
        };
        let seen = orders::mixed::run(options, self.updates);
        output::print(&Box::pin(seen).await?.text())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Order instances from the control plane that runs on this machine, remove them again, and compare with what the outside systems needed.
#[derive(Args)]
struct Overhead {
    /// The number of orders.
    #[arg(long = "orders", value_name = "N", default_value_t = 20)]
    count: usize,
    /// The number of orders at a time.
    #[arg(long, value_name = "N", default_value_t = 4)]
    at_once: usize,
}

impl Overhead {
    async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let connection = connection::find(data)?;
        let address = |url: &url::Url| url.as_str().trim_end_matches('/').to_owned();
        let load = overhead::Load {
            broker: address(&connection.broker),
            landscape: address(&connection.landscape),
            token: connection.token,
            orders: self.count,
            at_once: self.at_once,
        };
        output::print(&overhead::run(load).await?.text())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Fill a database with generated instances and measure what lists of runtimes cost, through a broker of its own.
#[derive(Args)]
struct Reads {
    /// The number of instances.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    instances: usize,
    /// How often each list is requested.
    #[arg(long, value_name = "N", default_value_t = 50)]
    times: usize,
    /// In an embedded database instead of PostgreSQL.
    #[arg(long)]
    sqlite: bool,
    /// The file for all figures as JSON.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The folder of initdb, postgres and pgbench.
    #[arg(long, value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
}

impl Reads {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let figures = reads::run(reads::Options {
            instances: self.instances,
            times: self.times,
            sqlite: self.sqlite,
            postgres_bin: self.postgres_bin,
            program: None,
        });
        let figures = Box::pin(figures).await?;
        let table = output::table(&reads::Figures::HEAD, figures.rows().into_iter());
        let pages = figures.pages.iter().map(reads::PageFigure::row);
        let pages = output::table(&reads::PageFigure::HEAD, pages);
        output::print(&format!("{table}\n{pages}\n{}", figures.summary()))?;
        if let Some(path) = self.output {
            fs::write(path, serde_json::to_vec_pretty(&figures)?)?;
        }
        Ok(if figures.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Upgrade many runtimes in one orchestration, some of which fail, paused and resumed while replicas of the broker are killed; then
/// measure what runtimes cost that wait in one.
#[derive(Args)]
struct Fleet {
    /// The number of runtimes to upgrade; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    runtimes: usize,
    /// The number of waiting runtimes in the orchestration that is measured; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    waiting: usize,
    /// The number of runtimes at a time.
    #[arg(long, value_name = "N", default_value_t = 20)]
    parallel_workers: u64,
    /// The number of runtimes to upgrade first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    canary: usize,
    /// The percentage of runtimes that fail.
    #[arg(long, value_name = "PERCENT", default_value_t = 5)]
    failing: usize,
    /// The percentage of runtimes that may fail.
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    failure_budget: usize,
    /// The number of replicas.
    #[arg(long, value_name = "N", default_value_t = 3)]
    replicas: usize,
    /// The number of seconds between two kills; 0 for none.
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    kill_every: f64,
    /// How often each request about the waiting runtimes is made.
    #[arg(long, value_name = "N", default_value_t = 20)]
    times: usize,
    /// The executable that serves; this one when absent.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The file for all figures as JSON.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The folder of initdb, postgres and pgbench.
    #[arg(long, value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
}

impl Fleet {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let (mut upgraded, mut waited) = (None, None);
        if self.runtimes > 0 {
            let seen = Box::pin(self.upgrade()).await?;
            output::print(&seen.text())?;
            upgraded = Some(seen);
        }
        if self.waiting > 0 {
            let seen = Box::pin(self.wait()).await?;
            let table = output::table(&reads::waiting::Figures::HEAD, seen.rows().into_iter());
            output::print(&format!("{table}\n{}", seen.summary()))?;
            waited = Some(seen);
        }
        if let Some(path) = self.output {
            let all = serde_json::json!({ "upgraded": upgraded, "waiting": waited });
            fs::write(path, serde_json::to_vec_pretty(&all)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn upgrade(&self) -> anyhow::Result<orders::upgrades::Figures> {
        let every = std::time::Duration::try_from_secs_f64(self.kill_every)?;
        let options = orders::Options {
            orders: self.runtimes,
            replicas: self.replicas,
            kill_every: (!every.is_zero()).then_some(every),
            postgres_bin: self.postgres_bin.clone(),
            program: self.program.clone(),
        };
        let pace = orders::upgrades::Pace {
            workers: self.parallel_workers,
            canary: self.canary,
            failing: self.failing,
            budget: self.failure_budget,
        };
        orders::upgrades::run(options, pace).await
    }

    async fn wait(&self) -> anyhow::Result<reads::waiting::Figures> {
        let options = reads::Options {
            instances: self.waiting,
            times: self.times,
            sqlite: false,
            postgres_bin: self.postgres_bin.clone(),
            program: self.program.clone(),
        };
        reads::waiting::run(options).await
    }
}

/// Fill a database with generated instances, run every job over them, and kill the broker in the middle of one; fails when a job takes
/// more than 64 MiB of memory or holds a transaction for more than a second.
#[derive(Args)]
struct Jobs {
    /// The number of instances.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    instances: usize,
    /// In an embedded database instead of PostgreSQL.
    #[arg(long)]
    sqlite: bool,
    /// The file for all figures as JSON.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The folder of initdb, postgres and pgbench.
    #[arg(long, value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
}

impl Jobs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let figures = jobs::run(jobs::Options {
            instances: self.instances,
            sqlite: self.sqlite,
            postgres_bin: self.postgres_bin,
            program: None,
        });
        let figures = Box::pin(figures).await?;
        let table = output::table(&jobs::Figures::HEAD, figures.rows().into_iter());
        output::print(&format!("{table}\n{}", figures.summary()))?;
        if let Some(path) = self.output {
            fs::write(path, serde_json::to_vec_pretty(&figures)?)?;
        }
        Ok(if figures.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Orders {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let every = std::time::Duration::try_from_secs_f64(self.kill_every)?;
        let seen = orders::run(orders::Options {
            orders: self.count,
            replicas: self.replicas,
            kill_every: (!every.is_zero()).then_some(every),
            postgres_bin: self.postgres_bin,
            program: None,
        });
        output::print(&Box::pin(seen).await?.text())?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Runtimes {
    async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let connection = connection::find(data)?;
        let load = Load {
            provisioner: connection.provisioner.as_str().trim_end_matches('/').to_owned(),
            token: connection.token,
            runtimes: self.runtimes,
            kyma: self.kyma,
        };
        output::print(&runtimes::run(load).await?.text())?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Bench {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        match self.what {
            BenchCommand::Engine(engine) => engine.run().await,
            BenchCommand::Runtimes(runtimes) => runtimes.run(data).await,
            BenchCommand::Orders(orders) => orders.run().await,
            BenchCommand::Mixed(mixed) => mixed.run().await,
            BenchCommand::Overhead(overhead) => overhead.run(data).await,
            BenchCommand::Reads(reads) => reads.run().await,
            BenchCommand::Fleet(fleet) => fleet.run().await,
            BenchCommand::Jobs(jobs) => jobs.run().await,
            BenchCommand::Replica => bench::replica().await.map(|()| ExitCode::SUCCESS),
        }
    }
}

impl Engine {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let report = bench::run(Options {
            rounds: self.rounds.unwrap_or(if self.short { 1 } else { 5 }),
            seconds: self.seconds.unwrap_or(if self.short { 1.0 } else { 10.0 }),
            repeats: self.repeats,
            short: self.short,
            postgres_bin: self.postgres_bin,
            only: self.only,
            rows: self.rows,
            program: None,
        })
        .await?;
        let table = output::table(&Report::HEAD, report.rows().into_iter());
        output::print(&format!("{table}\n{}", report.summary()))?;
        if let Some(path) = self.output {
            fs::write(path, serde_json::to_vec_pretty(&report.json())?)?;
        }
        Ok(if report.passes() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
