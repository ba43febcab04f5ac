//! `kcp check`: are the settings valid, and can every system that they name be reached?

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;
use server::{
    patience::Patience,
    plans,
    settings::{self, provisioner},
    systems::{self, CheckResult, SystemClients},
};

use crate::{connection::DEFAULT_FOLDER, output};

/// The settings of broker and provisioner in a folder.
const FILES: [&str; 2] = ["broker.toml", "provisioner.toml"];

/// Check settings and whether every system they name can be reached, without starting anything.
#[derive(Args, Clone)]
pub(crate) struct Check {
    /// The settings file, or a folder with broker.toml and provisioner.toml, which are then also checked against each other. Default:
    /// the files of the control plane on this machine (--data, or ./.kcp), else defaults and environment.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Treat the settings as the provisioner's. Not needed for files with sections that only the provisioner has.
    #[arg(long)]
    provisioner: bool,
    /// Check the settings alone, without any call.
    #[arg(long)]
    offline: bool,
    /// Print a sample file with every setting instead of checking.
    #[arg(long)]
    sample: bool,
}

impl Check {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        if self.sample {
            let sample = if self.provisioner { provisioner::sample() } else { settings::sample() };
            output::print(&sample)?;
            return Ok(ExitCode::SUCCESS);
        }
        let file = match &self.config {
            Some(file) => Some(file.clone()),
            None => self.of_this_machine(data)?,
        };
        let file = file.as_deref();
        if let Some(folder) = file.filter(|file| file.is_dir()) {
            return self.check_both(folder).await;
        }
        self.check(file).await
    }

    /// The file, or the folder with both files, that `kcp up` has written.
    fn of_this_machine(&self, data: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
        let folder = data.unwrap_or_else(|| Path::new(DEFAULT_FOLDER));
        let [broker, provisioner] = FILES.map(|name| folder.join(name));
        let found = match (broker.exists() && !self.provisioner, provisioner.exists()) {
            (true, true) => folder.to_owned(),
            (true, false) => broker,
            (false, true) => provisioner,
            (false, false) if data.is_none() => return Ok(None),
            (false, false) => {
                bail!("{} has no settings to check: name a file with --config", folder.display())
            }
        };
        output::print(&format!("checking {}\n", found.display()))?;
        Ok(Some(found))
    }

    /// The settings of both services, one after the other, and then together.
    async fn check_both(&self, folder: &Path) -> anyhow::Result<ExitCode> {
        let [of_broker, of_provisioner] = FILES.map(|name| folder.join(name));
        let broker = self.check(Some(&of_broker)).await?;
        let provisioner = Self { provisioner: true, ..self.clone() };
        let provisioner = provisioner.check(Some(&of_provisioner)).await?;
        let patience = Patience::of(&settings::load(Some(&of_broker))?);
        patience.check(&provisioner::load(Some(&of_provisioner))?)?;
        output::print("the limits of both fit together\n")?;
        Ok(if broker == ExitCode::SUCCESS { provisioner } else { broker })
    }

    async fn check(&self, file: Option<&Path>) -> anyhow::Result<ExitCode> {
        let of_provisioner = self.provisioner || file.is_some_and(settings::is_of_provisioner);
        let (exceptions, checked) = if of_provisioner {
            let settings = provisioner::load(file)?;
            let exceptions = settings.check()?;
            let checked = if self.offline {
                Vec::new()
            } else {
                systems::check_provisioner(&settings).await?
            };
            (exceptions, checked)
        } else {
            let settings = settings::load(file)?;
            let exceptions = settings.check()?;
            let systems = SystemClients::open(&settings.systems, &settings.gates()).await;
            let systems = systems.context("the settings are not valid")?;
            (
                exceptions,
                if self.offline {
                    Vec::new()
                } else {
                    systems.check_for(Patience::of(&settings), &plans::called(&settings)?).await
                },
            )
        };
        let whose = if of_provisioner { "provisioner" } else { "broker" };
        output::print(&format!("the settings of the {whose} are valid\n"))?;
        for exception in exceptions {
            output::print(&format!("warning: {exception}\n"))?;
        }
        report(&checked)
    }
}

fn report(checked: &[CheckResult]) -> anyhow::Result<ExitCode> {
    if checked.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let row = |one: &CheckResult| {
        let found = one.found.as_ref().map(|found| format!("reached: {found}"));
        let reached = || found.unwrap_or_else(|| "reached".to_owned());
        let outcome = one.wrong.clone().unwrap_or_else(reached);
        vec![one.system.to_owned(), outcome]
    };
    output::print(&output::table(&["SYSTEM", "OUTCOME"], checked.iter().map(row)))?;
    let failed = checked.iter().any(|one| one.wrong.is_some());
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
