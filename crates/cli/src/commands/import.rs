//! `kcp import`: take over what the original broker and provisioner keep in their databases.

use std::{env, path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;
use server::{
    import::{self, DATABASE, Mode, Report, Source},
    settings,
};

use crate::{
    confirm::Confirmation,
    output::{self, Format},
};

const HEAD: [&str; 5] = ["", "FOUND", "TAKEN OVER", "HERE BEFORE", "LEFT OUT"];

/// Import the runtimes of the original broker and provisioner. Without --apply nothing is written, only reported.
#[derive(Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    program: Program,
}

#[derive(Subcommand)]
enum Program {
    /// Import instances, operations, orchestrations, runtime states, bindings and archived instances of the original broker.
    Keb(Origin),
    /// Import clusters and operations of the original provisioner.
    Provisioner(Origin),
}

#[derive(Args)]
struct Origin {
    /// The original's database, which is only read: postgres://USER@HOST:PORT/NAME [env: `KCP_IMPORT_DATABASE`].
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// The file with the key with which the original encrypts columns. Default: the key in `KCP_IMPORT_KEY`.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The settings file of the importing service.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write what can be imported.
    #[arg(long)]
    apply: bool,
    /// Import unfinished operations, too, as failed. Only when the original is stopped for good.
    #[arg(long)]
    unfinished: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Import {
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let (origin, into_broker) = match self.program {
            Program::Keb(origin) => (origin, true),
            Program::Provisioner(origin) => (origin, false),
        };
        let source = origin.source()?;
        let config = origin.config.as_deref();
        // Settings that cannot be used are reported before any question.
        let report = if into_broker {
            let settings = settings::load(config)?;
            origin.ask("broker")?;
            Box::pin(import::keb(&settings, &source)).await?
        } else {
            let settings = settings::provisioner::load(config)?;
            origin.ask("provisioner")?;
            Box::pin(import::provisioner(&settings, &source)).await?
        };
        show(&report, origin.apply, origin.output)?;
        let left_out = ["instances", "runtimes"].iter().filter_map(|sort| report.counts.get(sort));
        let complete = left_out.into_iter().all(|count| count.left_out == 0);
        Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Origin {
    /// Asks whether an import that writes is meant.
    fn ask(&self, whose: &str) -> anyhow::Result<()> {
        if !self.apply {
            return Ok(());
        }
        let what = format!("Write what can be taken over to the database of the {whose}");
        self.confirmation.ask(&what)
    }

    fn source(&self) -> anyhow::Result<Source> {
        let database = self.database.clone().or_else(|| env::var(DATABASE).ok());
        let database = database
            .with_context(|| format!("database missing: give --database URL, or {DATABASE}"))?;
        Ok(Source {
            database: database.into(),
            key_file: self.key_file.clone(),
            mode: if self.apply { Mode::Apply } else { Mode::DryRun },
            unfinished: self.unfinished,
        })
    }
}

fn show(report: &Report, applied: bool, format: Format) -> anyhow::Result<()> {
    if !matches!(format, Format::Table | Format::Wide) {
        let answer = json!({"applied": applied, "report": report});
        return format.show(&answer, "", String::new);
    }
    let rows = report.counts.iter().map(|(sort, count)| {
        let numbers = [count.found, count.taken, count.present, count.left_out];
        [(*sort).to_owned()].into_iter().chain(numbers.map(|number| number.to_string())).collect()
    });
    output::print(&output::table(&HEAD, rows))?;
    if !report.findings.is_empty() {
        output::print("\n")?;
    }
    for finding in &report.findings {
        output::print(&format!(
            "{}: {}\n    {}\n",
            finding.subject, finding.problem, finding.action
        ))?;
    }
    if report.further_findings > 0 {
        output::print(&format!("and {} more\n", report.further_findings))?;
    }
    if !applied {
        output::print("\nNothing was written: this was a dry run. Next: the same with --apply\n")?;
    }
    Ok(())
}
