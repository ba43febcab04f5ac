//! `kcp keys`: the keys that seal secrets.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};

use crate::output;

/// Make the keys that seal secrets in the database.
#[derive(Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Make a file with a new key. All replicas of a service need a copy of the same file.
    New {
        /// The file, as `database.sealing_keys` names it; it must not exist yet.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

impl Keys {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            KeysCommand::New { file } => {
                server::keys::make(&file)?;
                output::print(&format!(
                    "{} holds a new key; without it, what is sealed with it is lost\n",
                    file.display()
                ))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
