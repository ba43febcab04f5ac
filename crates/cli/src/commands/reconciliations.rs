//! `kcp reconciliations`: what the Reconciler does with clusters, as the known client shows it.

mod list;
mod time;

use std::{path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::which::{self, IdMatch};
use crate::{
    client::Client,
    confirm::Confirmation,
    output::{self, Format},
};
use list::{Info, List};

/// List reconciliations, show one, and enable or disable them for a cluster.
#[derive(Args)]
#[command(
    visible_alias = "reconciliation",
    visible_alias = "rc",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Reconciliations {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand)]
enum Command {
    /// Enable the reconciliation of a cluster.
    Enable {
        #[command(flatten)]
        cluster: Cluster,
        /// Start a reconciliation at once.
        #[arg(short, long)]
        force: bool,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Disable the reconciliation of a cluster.
    Disable {
        #[command(flatten)]
        cluster: Cluster,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Show a reconciliation with its operations.
    Info(Info),
    /// Show the Reconciler's state of a cluster.
    State(State),
    /// Turn on debug logs of a reconciliation.
    Debug {
        /// The reconciliation: its scheduling id or a part of it.
        #[arg(short, long, value_name = "ID")]
        scheduling_id: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Delete the reconciliations of a cluster.
    Purge {
        /// The runtime: its id, a prefix of it, or its name.
        #[arg(short, long, value_name = "ID")]
        runtime_id: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Stop an operation of a reconciliation, or turn on its debug logs.
    Operation {
        #[command(subcommand)]
        command: OperationCommand,
    },
}

#[derive(Subcommand)]
enum OperationCommand {
    /// Mark an operation that has not started as done.
    Stop {
        #[command(flatten)]
        operation: OperationId,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Turn on debug logs of an operation.
    Debug {
        #[command(flatten)]
        operation: OperationId,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

#[derive(Args)]
struct OperationId {
    /// The reconciliation: its scheduling id or a part of it.
    #[arg(short, long, value_name = "ID")]
    scheduling_id: String,
    /// The operation: its correlation id or a part of it.
    #[arg(short, long, value_name = "ID")]
    correlation_id: String,
}

/// A cluster, by its runtime or its Shoot.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Cluster {
    /// The runtime: its id, a prefix of it, or its name.
    #[arg(short, long, value_name = "ID")]
    runtime_id: Option<String>,
    /// The Shoot.
    #[arg(short = 'c', long)]
    shoot: Option<String>,
}

#[derive(Args)]
struct State {
    #[command(flatten)]
    of: StateOf,
    /// table, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

/// What a state is of. Every field of it is one of the group's, so that a format does not belong here.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct StateOf {
    /// The runtime: its id, a prefix of it, or its name.
    #[arg(short, long, value_name = "ID")]
    runtime_id: Option<String>,
    /// The Shoot.
    #[arg(short = 'c', long)]
    shoot: Option<String>,
    /// An operation of a reconciliation.
    #[arg(long, value_name = "ID")]
    correlation_id: Option<String>,
    /// A reconciliation: its scheduling id or a part of it.
    #[arg(long, value_name = "ID")]
    scheduling_id: Option<String>,
}

impl Reconciliations {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let mothership = Client::connect_to_mothership(data)?;
        match self.command {
            None => self.list.run(&mothership, data).await?,
            Some(Command::Info(info)) => info.run(&mothership).await?,
            Some(Command::State(state)) => state.run(&mothership, data).await?,
            Some(command) => command.change(&mothership, data).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Command {
    async fn change(self, mothership: &Client, data: Option<&Path>) -> anyhow::Result<()> {
        match self {
            Self::Enable { cluster, force, confirmation } => {
                let status = if force { "reconcile_pending" } else { "ready" };
                let enough = IdMatch::of_change(&confirmation, false);
                let runtime = cluster.runtime(data, enough).await?;
                ask(mothership, &confirmation, &runtime, "Turn reconciliation on for").await?;
                set(mothership, &runtime, status).await
            }
            Self::Disable { cluster, confirmation } => {
                let enough = IdMatch::of_change(&confirmation, false);
                let runtime = cluster.runtime(data, enough).await?;
                ask(mothership, &confirmation, &runtime, "Turn reconciliation off for").await?;
                set(mothership, &runtime, "reconcile_disabled").await
            }
            Self::Debug { scheduling_id, confirmation } => {
                let enough = IdMatch::of_change(&confirmation, false);
                let scheduling_id = round(mothership, &scheduling_id, enough).await?;
                mothership.reconciliation(&scheduling_id).await?;
                confirmation.ask(&format!("Log more of reconciliation {scheduling_id}"))?;
                mothership.debug_reconciliation(&scheduling_id, None).await?;
                output::print(&format!("reconciliation {scheduling_id} logs more\n"))
            }
            Self::Purge { runtime_id, confirmation } => {
                let enough = IdMatch::of_change(&confirmation, false);
                let runtime = runtime(data, &runtime_id, enough).await?;
                mothership.cluster_state(&[("runtimeID", runtime.as_str())]).await?;
                confirmation.ask(&format!("Forget all reconciliations of runtime {runtime}"))?;
                mothership.purge_reconciliations(&runtime).await?;
                output::print(&format!("reconciliations of runtime {runtime} are forgotten\n"))
            }
            Self::Operation { command: OperationCommand::Stop { operation, confirmation } } => {
                let (scheduling_id, correlation_id) =
                    operation.whole(mothership, &confirmation).await?;
                confirmation.ask(&format!("Take operation {correlation_id} for done"))?;
                mothership.stop_operation(&scheduling_id, &correlation_id).await?;
                output::print(&format!("operation {correlation_id} is stopped\n"))
            }
            Self::Operation { command: OperationCommand::Debug { operation, confirmation } } => {
                let (scheduling_id, correlation_id) =
                    operation.whole(mothership, &confirmation).await?;
                confirmation.ask(&format!("Log more of operation {correlation_id}"))?;
                mothership.debug_reconciliation(&scheduling_id, Some(&correlation_id)).await?;
                output::print(&format!("operation {correlation_id} logs more\n"))
            }
            Self::Info(_) | Self::State(_) => Ok(()),
        }
    }
}

/// The whole id of a round.
async fn round(mothership: &Client, word: &str, enough: IdMatch) -> anyhow::Result<String> {
    if Uuid::parse_str(word).is_ok() {
        return Ok(word.to_owned());
    }
    let all = mothership.reconciliations(&[]).await?;
    let ids: Vec<&str> = all.iter().filter_map(|it| it["schedulingID"].as_str()).collect();
    Ok(which::one_of("reconciliation", word, &ids, enough)?.to_owned())
}

impl OperationId {
    /// The whole ids of the round and of its operation.
    async fn whole(
        &self,
        mothership: &Client,
        confirmation: &Confirmation,
    ) -> anyhow::Result<(String, String)> {
        let enough = IdMatch::of_change(confirmation, false);
        let round = round(mothership, &self.scheduling_id, enough).await?;
        let found = mothership.reconciliation(&round).await?;
        let all = found["operations"].as_array().into_iter().flatten();
        let ids: Vec<&str> = all.filter_map(|it| it["correlationID"].as_str()).collect();
        let operation = which::one_of("operation", &self.correlation_id, &ids, enough)?;
        Ok((round, operation.to_owned()))
    }
}

/// Asks whether this shall be done with a cluster, which the Reconciler must know.
async fn ask(
    mothership: &Client,
    confirmation: &Confirmation,
    runtime: &str,
    doing: &str,
) -> anyhow::Result<()> {
    if !confirmation.is_given() {
        mothership.cluster_state(&[("runtimeID", runtime)]).await?;
    }
    confirmation.ask(&format!("{doing} runtime {runtime}"))
}

async fn set(mothership: &Client, runtime: &str, status: &str) -> anyhow::Result<()> {
    mothership.set_cluster_status(runtime, status).await?;
    output::print(&format!("runtime {runtime}: {status}\n"))
}

impl Cluster {
    async fn runtime(&self, data: Option<&Path>, enough: IdMatch) -> anyhow::Result<String> {
        let which = self.runtime_id.as_deref().or(self.shoot.as_deref()).unwrap_or_default();
        runtime(data, which, enough).await
    }
}

/// The id of a runtime; names and Shoots are looked up at the broker.
async fn runtime(data: Option<&Path>, which: &str, enough: IdMatch) -> anyhow::Result<String> {
    which::runtime_id(&Client::connect(data)?, which, enough).await
}

impl State {
    async fn run(self, mothership: &Client, data: Option<&Path>) -> anyhow::Result<()> {
        let of = &self.of;
        let cluster = of.runtime_id.as_deref().or(of.shoot.as_deref());
        let cluster = match cluster {
            Some(which) => Some(runtime(data, which, IdMatch::Part).await?),
            None => None,
        };
        let scheduling_id = match of.scheduling_id.as_deref() {
            Some(word) => Some(round(mothership, word, IdMatch::Part).await?),
            None => None,
        };
        let names = [
            ("runtimeID", cluster.as_deref()),
            ("correlationID", of.correlation_id.as_deref()),
            ("schedulingID", scheduling_id.as_deref()),
        ];
        let query: Vec<_> = names.into_iter().filter_map(|(key, id)| Some((key, id?))).collect();
        let state = mothership.cluster_state(&query).await?;
        let name = state["cluster"]["runtimeID"].as_str().unwrap_or_default();
        self.output.show(&state, name, || list::state(&state))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_state_is_of_one_thing_and_has_a_format_beside_it() {
        let read = |words: &str| {
            let words = ["kcp", "reconciliations", "state"].into_iter().chain(words.split(' '));
            crate::command().try_get_matches_from(words)
        };

        for good in ["-r one", "-r one -o json", "-o yaml --scheduling-id s-1"] {
            assert!(read(good).is_ok(), "{good}");
        }
        for wrong in ["-o json", "-r one -c two", "-r one --correlation-id c-1 -o json"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
