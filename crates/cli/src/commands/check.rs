//! `kcp check`: are the settings valid?

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use crate::output;

/// Check settings without starting anything.
#[derive(Args)]
pub(crate) struct Check {
    /// The settings file; without one, only defaults and environment are checked.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print a sample file with every setting instead.
    #[arg(long)]
    sample: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        if self.sample {
            output::print(&server::settings::sample())?;
            return Ok(ExitCode::SUCCESS);
        }
        server::settings::load(self.config.as_deref())?;
        output::print("the settings are valid\n")?;
        Ok(ExitCode::SUCCESS)
    }
}
