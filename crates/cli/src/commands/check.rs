//! `kcp check`: are the settings valid, and can every system that they name be reached?

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::Args;
use server::{
    settings::{self, provisioner},
    systems::{self, Checked, Systems},
};

use crate::output;

/// Check settings, and whether every system that they name can be reached, without starting anything.
#[derive(Args)]
pub(crate) struct Check {
    /// The settings file; without one, only defaults and environment are checked.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the settings of the provisioner instead of the broker's.
    #[arg(long)]
    provisioner: bool,
    /// Check the settings alone, and call nobody.
    #[arg(long)]
    offline: bool,
    /// Print a sample file with every setting instead.
    #[arg(long)]
    sample: bool,
}

impl Check {
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        if self.sample {
            let sample = if self.provisioner { provisioner::sample() } else { settings::sample() };
            output::print(&sample)?;
            return Ok(ExitCode::SUCCESS);
        }
        let checked = if self.provisioner {
            let settings = provisioner::load(self.config.as_deref())?;
            if self.offline { Vec::new() } else { systems::check_provisioner(&settings).await? }
        } else {
            let settings = settings::load(self.config.as_deref())?;
            let clock = base::Clock::running();
            let systems = Systems::open(&settings.systems, &clock).await;
            let systems = systems.context("the settings are not valid")?;
            if self.offline { Vec::new() } else { systems.check().await }
        };
        output::print("the settings are valid\n")?;
        report(&checked)
    }
}

fn report(checked: &[Checked]) -> anyhow::Result<ExitCode> {
    if checked.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let row = |one: &Checked| {
        let outcome = one.wrong.clone().unwrap_or_else(|| "reached".to_owned());
        vec![one.system.to_owned(), outcome]
    };
    output::print(&output::table(&["SYSTEM", "OUTCOME"], checked.iter().map(row)))?;
    let failed = checked.iter().any(|one| one.wrong.is_some());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
