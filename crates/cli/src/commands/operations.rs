//! `kcp operations`: list them, look at one, watch it, get it unstuck.

pub(crate) mod follow;
mod list;
mod live;
pub(crate) mod show;
mod unstuck;

use std::{path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{
    names::Names,
    which::{self, IdMatch},
};
use crate::{client::Client, output::Format};

/// List operations, or show one.
#[derive(Args)]
#[command(
    visible_alias = "operation",
    visible_alias = "op",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Operations {
    #[command(subcommand)]
    command: Option<Command>,
    /// The operation to show: its id or a part of it, or a runtime for its newest one. Without it, all are listed.
    #[arg(value_name = "OPERATION")]
    id: Option<String>,
    /// Watch the operation until it ends.
    #[arg(short, long, alias = "follow", short_alias = 'f', requires = "id")]
    watch: bool,
    #[command(flatten)]
    list: list::List,
    /// The provisioner's operations instead of the broker's.
    #[arg(long, global = true)]
    provisioner: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, global = true)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    /// List operations, newest first.
    List(list::List),
    /// Show an operation: its journal, and why it waits.
    Show {
        /// The operation: its id or a part of it, or a runtime for its newest one.
        #[arg(value_name = "OPERATION")]
        id: String,
        /// Watch the operation until it ends.
        #[arg(short, long, alias = "follow", short_alias = 'f')]
        watch: bool,
    },
    #[command(flatten)]
    Unstuck(unstuck::Unstuck),
}

impl Operations {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = if self.provisioner {
            Client::connect_to_provisioner(data)?
        } else {
            Client::connect(data)?
        };
        let command = self.command.unwrap_or(match self.id {
            Some(id) => Command::Show { id, watch: self.watch },
            None => Command::List(self.list),
        });
        match command {
            Command::List(list) => list.run(&client, self.output).await?,
            Command::Show { id, watch } => {
                let id = which::operation(&client, &id, IdMatch::Part).await?;
                if watch {
                    return follow::follow_as(&client, &id, self.output).await;
                }
                show::show(&client, &id, self.output).await?;
            }
            Command::Unstuck(command) => return command.run(&client, self.output).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The names of what operations work on: of instances at the broker, at the provisioner of runtimes, whose names the broker has.
async fn names(client: &Client, operations: &[Value], format: Format) -> Names {
    match client.broker().filter(|_| !client.has_runtimes()) {
        Some(broker) => Names::of_runtimes(broker, operations, "instance", format).await,
        None => Names::of(client, operations, "instance", format).await,
    }
}
