//! `kcp bench engine`: how fast the engine is, as ratios against baselines of the same run.
//!
//! What a reader would get wrong: absolute numbers are recorded and never judged. A figure is the
//! median of ratios, each from a baseline and a system that ran one after the other on one machine.

mod baselines;
mod child;
mod context;
mod embedded;
mod figures;
pub mod jobs;
mod latency;
mod load;
pub mod orders;
pub mod overhead;
mod pgbench;
mod plan;
mod postgres;
mod process;
pub mod reads;
mod refmodel;
mod replica;
mod report;
mod rounds;
pub mod runtimes;
mod scale;
mod takeover;
mod targets;
mod throughput;
mod timers;
mod waiting;

use std::path::PathBuf;

pub use replica::replica;
pub use report::Report;

use context::Bench;
use figures::Figures;
use rounds::Group;
use scale::Scale;

/// Options of the measurement.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many rounds of baseline and system.
    pub rounds: usize,
    /// How long each measurement takes, after its warm-up.
    pub seconds: f64,
    /// How often a disturbed round is repeated before its figures count as noisy.
    pub repeats: usize,
    /// Only proves the harness: small, quick, and not judged.
    pub short: bool,
    /// The folder of `initdb`, `postgres` and `pgbench`.
    pub postgres_bin: Option<PathBuf>,
    /// Which figures; all when empty.
    pub only: Vec<String>,
    /// How many operations are stored before anything is measured.
    pub rows: usize,
    /// The executable that runs replicas; this one when absent.
    pub program: Option<PathBuf>,
}

/// Measures, and says what it saw on standard error while it goes on.
pub async fn run(options: Options) -> anyhow::Result<Report> {
    for id in &options.only {
        anyhow::ensure!(targets::find(id).is_some(), "\"{id}\" is not a figure of this benchmark");
    }
    let scale = Scale::of(&options);
    let mut bench = Bench::prepare(&options, scale).await?;
    let mut figures = Figures::default();
    for group in Group::ALL {
        if group.targets().any(|id| bench.wants(id)) {
            rounds::measure(&mut bench, group, &mut figures).await?;
        }
    }
    Ok(Report::new(&options, &bench.machine().await?, figures))
}
