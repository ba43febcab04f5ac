//! `kcp up`: everything on this machine.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use secrecy::SecretString;
use server::{
    Speed, settings, telemetry,
    up::{Options, run},
};

use super::garden::GardenArgs;
use crate::connection::{self, DEFAULT_FOLDER};

/// Run everything on this machine: broker, provisioner, console and simulated outside systems.
#[derive(Args)]
pub(crate) struct Up {
    /// The first of four ports: broker, provisioner, landscape, clusters. Default: that of the folder's last start, or 8080.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// The PostgreSQL database to use instead of the embedded one.
    #[arg(long, value_name = "URL", env = "KCP_DATABASE", hide_env_values = true)]
    database: Option<SecretString>,
    /// The speed of the simulated systems: a factor, or "max" for no delays at all.
    #[arg(long, value_name = "X", default_value = "1")]
    speed: Speed,
    #[command(flatten)]
    garden: GardenArgs,
    /// The settings file, as in config/broker.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Up {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        if data.is_none() {
            connection::check_default_folder()?;
        }
        let settings = settings::load(self.config.as_deref())?;
        telemetry::start(&settings.telemetry.log, settings.telemetry.format)?;
        run(Options {
            port: self.port,
            data: data.unwrap_or(Path::new(DEFAULT_FOLDER)).to_owned(),
            database: self.database,
            speed: self.speed,
            garden: self.garden.options(),
            settings,
            provisioner: settings::provisioner::load(None)?,
        })
        .await?;
        Ok(ExitCode::SUCCESS)
    }
}
