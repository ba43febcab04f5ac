//! `kcp keys`: the keys that seal secrets.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use server::{
    keys::{SealedDatabase, Set},
    settings,
};

use crate::{confirm::Confirmation, output};

/// Create and rotate the keys that encrypt secrets in the database.
#[derive(Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Create a file with a new key. All replicas of a service need a copy of the same file.
    New {
        /// The file, as `database.sealing_keys` names it; it must not exist yet.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Add a new key to a file. It decrypts at once, and encrypts after its line is moved to the top.
    Add {
        /// The file, as `database.sealing_keys` names it.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Encrypt everything in the database again with the first key of the file, while services run.
    Rotate {
        /// The settings file of the service.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Rotate the provisioner's database instead of the broker's.
        #[arg(long)]
        provisioner: bool,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

impl Keys {
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            KeysCommand::New { file } => {
                server::keys::make(&file)?;
                output::print(&format!(
                    "{} holds a new key; without it, what is sealed with it is lost\n",
                    file.display()
                ))?;
            }
            KeysCommand::Add { file } => {
                let id = server::keys::add(&file)?;
                output::print(&format!(
                    "{} holds the new key {id}. Next: give the file to all replicas and restart them, move the line \
                     of {id} to the top, restart them again, then run kcp keys rotate\n",
                    file.display()
                ))?;
            }
            KeysCommand::Rotate { config, provisioner, confirmation } => {
                return rotate(config.as_deref(), provisioner, &confirmation).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn rotate(
    config: Option<&Path>,
    provisioner: bool,
    confirmation: &Confirmation,
) -> anyhow::Result<ExitCode> {
    let ask = |whose: &str, keys: &Path| {
        let keys = keys.display();
        confirmation.ask(&format!(
            "Seal everything in the database of the {whose} anew, with the first key of {keys}"
        ))
    };
    let rotated = if provisioner {
        let settings = settings::provisioner::load(config)?;
        let database = &settings.database;
        let (url, schema, keys) = (&database.url, &database.schema, &database.sealing_keys);
        ask("provisioner", keys)?;
        server::keys::rotate(SealedDatabase { url, schema, keys, set: Set::Provisioner }).await?
    } else {
        let settings = settings::load(config)?;
        let database = &settings.database;
        let (url, schema, keys) = (&database.url, &database.schema, &database.sealing_keys);
        ask("broker", keys)?;
        server::keys::rotate(SealedDatabase { url, schema, keys, set: Set::Broker }).await?
    };
    output::print(&format!("{} values were sealed anew\n", rotated.resealed))?;
    if rotated.is_complete() {
        output::print("the other keys are not needed any more: remove their lines\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    for (row, error) in &rotated.refused {
        output::print(&format!("{row}: {error}\n"))?;
    }
    Ok(ExitCode::FAILURE)
}
