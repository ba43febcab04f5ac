//! `kcp broker`: the environment broker alone, for production.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use server::{settings, telemetry};

/// Run the environment broker: the Open Service Broker API in front of the provisioner and other systems.
#[derive(Args)]
pub(crate) struct Broker {
    /// The settings file, as in config/broker.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Broker {
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let settings = settings::load(self.config.as_deref())?;
        telemetry::start(&settings.telemetry.log, settings.telemetry.format)?;
        Box::pin(server::broker::run(settings)).await?;
        Ok(ExitCode::SUCCESS)
    }
}
