//! `kcp provisioner`: the runtime provisioner alone, for production.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use server::{settings::provisioner, telemetry};

/// Run the runtime provisioner: a GraphQL API in front of Gardener.
#[derive(Args)]
pub(crate) struct Provisioner {
    /// The settings file, as in config/provisioner.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Provisioner {
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let settings = provisioner::load(self.config.as_deref())?;
        telemetry::start(&settings.telemetry.log, settings.telemetry.format)?;
        server::provisioner::run(settings).await?;
        Ok(ExitCode::SUCCESS)
    }
}
