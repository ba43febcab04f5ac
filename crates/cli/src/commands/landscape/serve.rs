//! Serving the landscape alone.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use server::{
    Speed, settings, telemetry,
    up::{LandscapeOptions, run_landscape},
};

use crate::{
    commands::garden::GardenArgs,
    connection::{self, DEFAULT_FOLDER},
};

/// How to serve it.
#[derive(Args)]
pub(super) struct Serve {
    /// The first of four ports, as with `kcp up`: the landscape uses the third, its clusters the fourth.
    #[arg(long, value_name = "N", default_value_t = 8080)]
    port: u16,
    /// The speed of the simulated systems: a factor, or "max" for no delays at all.
    #[arg(long, value_name = "X", default_value = "1")]
    speed: Speed,
    #[command(flatten)]
    garden: GardenArgs,
    /// The settings file, as in config/broker.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Serve {
    pub(super) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        if data.is_none() {
            connection::check_default_folder()?;
        }
        let settings = settings::load(self.config.as_deref())?;
        telemetry::start(&settings.telemetry.log, settings.telemetry.format)?;
        run_landscape(LandscapeOptions {
            port: self.port,
            data: data.unwrap_or(Path::new(DEFAULT_FOLDER)).to_owned(),
            speed: self.speed,
            garden: self.garden.options(),
            settings,
        })
        .await?;
        Ok(ExitCode::SUCCESS)
    }
}
