//! `kcp bench reads`: what lists of runtimes cost, by how many instances there are.
//!
//! What a reader would get wrong: the instances are generated, but the broker is real: a process of its own that is asked over HTTP.
//! Their orders are copies of one that it has accepted, sealed with its keys, so that a page is as expensive as in production.

mod console;
mod copied;
pub(crate) mod generate;
mod judged;
mod measure;
pub(crate) mod rows;
pub(crate) mod service;
pub mod waiting;

use std::{fmt::Write as _, path::PathBuf, time::Instant};

use serde::Serialize;

use crate::process;
use console::Browser;
pub use console::PageFigure;
use generate::Generator;
pub use judged::JudgedTarget;
use measure::Measures;
use service::Service;

/// Options of the benchmark.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many instances there are.
    pub instances: usize,
    /// How often each question is asked.
    pub times: usize,
    /// Whether they are in an embedded database.
    pub sqlite: bool,
    /// The folder of initdb, postgres and pgbench.
    pub postgres_bin: Option<PathBuf>,
    /// The program that serves; this one when absent.
    pub program: Option<PathBuf>,
}

/// One question, and how long its answers took.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// The question.
    pub question: &'static str,
    /// How many runtimes it finds on all pages, when it was last asked.
    pub found: u64,
    /// The middle value, in milliseconds.
    pub median: f64,
    /// All but the slowest hundredth, in milliseconds.
    pub p99: f64,
    /// Its middle value over that of the first page.
    pub ratio: f64,
}

/// The measured values.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    pub instances: usize,
    pub times: usize,
    /// The database.
    pub database: &'static str,
    /// How the program was built.
    pub profile: &'static str,
    pub cores: usize,
    /// The questions, the first page first.
    pub figures: Vec<Figure>,
    /// The pages of the console.
    pub pages: Vec<PageFigure>,
    /// The targets of lists; with SQLite only those without plain statements.
    pub targets: Vec<JudgedTarget>,
    /// How many runtimes an export has, and how many of them per second.
    pub exported: usize,
    pub exported_per_second: f64,
    /// The most memory that the broker had before the export and after it, in MiB.
    pub memory: [f64; 2],
    /// How long it took to generate the instances, in seconds.
    pub generated_in: f64,
}

/// Fills a database, asks, and removes everything again.
pub async fn run(options: Options) -> anyhow::Result<Figures> {
    let mut service = Service::prepare(&options).await?;
    let template = service.template().await?;
    eprintln!("generating {} instances", options.instances);
    let began = Instant::now();
    let generator = Generator::new(template, options.instances);
    service.fill(&generator).await?;
    let generated_in = began.elapsed().as_secs_f64();
    service.start().await?;
    eprintln!("asking");
    let measures = Measures::new(&service, &generator, options.times);
    let figures = measures.all().await?;
    let mut targets = judged::all(&service, &measures, options.times).await?;
    let before = process::memory(service.process()?)?.1;
    let (exported, took) = measures.export().await?;
    let after = process::memory(service.process()?)?.1;
    eprintln!("opening pages of the console");
    let browser = Browser::sign_in(&service, options.times).await?;
    targets.extend(browser.judged().await?);
    let pages = browser.all(&generator).await?;
    #[expect(clippy::cast_precision_loss, reason = "a count of runtimes is small")]
    let exported_per_second = exported as f64 / took.as_secs_f64();
    Ok(Figures {
        instances: options.instances,
        times: options.times,
        database: if options.sqlite { "SQLite" } else { "PostgreSQL" },
        profile: if cfg!(debug_assertions) { "dev" } else { "release" },
        cores: std::thread::available_parallelism().map_or(1, Into::into),
        figures,
        pages,
        targets,
        exported,
        exported_per_second,
        memory: [before, after],
        generated_in,
    })
}

impl Figures {
    /// The heads of the columns.
    pub const HEAD: [&str; 5] = ["question", "found", "median ms", "p99 ms", "of the first page"];

    /// One line per question, as cells under [`Figures::HEAD`].
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |it: &Figure| {
            let (median, p99) = (format!("{:.1}", it.median), format!("{:.1}", it.p99));
            let ratio = format!("{:.2}", it.ratio);
            vec![it.question.to_owned(), it.found.to_string(), median, p99, ratio]
        };
        self.figures.iter().map(row).collect()
    }

    /// The summary below the table.
    pub fn summary(&self) -> String {
        let Self { instances, times, database, profile, cores, .. } = self;
        let mut text = format!(
            "{instances} instances in {database}, generated in {:.0} s; each question {times} times, {profile} build, {cores} cores\n\
             export: {} runtimes, {:.0} per second; memory of the broker {:.0} MiB at most before it, {:.0} MiB after it\n",
            self.generated_in,
            self.exported,
            self.exported_per_second,
            self.memory[0],
            self.memory[1],
        );
        for judged in &self.targets {
            let _ = writeln!(text, "{}", judged.line());
        }
        text
    }

    /// Whether every target is reached at least to its floor. A build without optimisation proves the benchmark and is not judged.
    pub fn passes(&self) -> bool {
        self.profile == "dev" || self.targets.iter().all(|judged| judged.reached != "below")
    }
}
