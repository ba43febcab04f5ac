//! The executable: the services and the operator's client. Reads the command line and hands over.

mod call_error;
mod client;
mod commands;
mod confirm;
mod connection;
mod examples;
mod hint;
mod output;
mod remote;
mod timeline;
mod view;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

#[cfg(feature = "landscape")]
use commands::up;
use commands::{
    activity, bench, bindings, broker, catalog, check, completion, context, deprovision, events,
    import, jobs, keys, kubeconfig, landscape, leftovers, login, operations, orchestrations,
    provision, provisioner, reconciliations, runtimes, status, steps, taskrun, token, tour, update,
    upgrade,
};

/// An order makes many small texts and documents; docs/performance.md has what this one saves.
#[cfg(kcp_jemalloc)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The heading of options that every command takes, so that they stand below its own.
const GLOBAL: &str = "Global options";

/// Environment broker, runtime provisioner and their client in one executable.
#[derive(Parser)]
#[command(name = "kcp", version, propagate_version = true)]
struct Cli {
    /// The data folder of a control plane on this machine [default: ./.kcp].
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    data: Option<PathBuf>,
    /// The broker's address of a remote control plane.
    #[arg(long, global = true, value_name = "URL", help_heading = GLOBAL)]
    server: Option<url::Url>,
    /// The context of a remote control plane [env: `KCP_CONTEXT`].
    #[arg(long, global = true, value_name = "NAME", help_heading = GLOBAL)]
    context: Option<String>,
    #[command(flatten)]
    known: remote::known::Flags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "landscape")]
    Up(up::Up),
    Tour(tour::Tour),
    Token(token::Token),
    Login(login::Login),
    Logout(login::Logout),
    Context(context::Contexts),
    Broker(broker::Broker),
    Provisioner(provisioner::Provisioner),
    Landscape(landscape::Landscape),
    Provision(provision::Provision),
    Update(update::Update),
    Suspend(activity::Suspend),
    Resume(activity::Resume),
    Deprovision(deprovision::Deprovision),
    Runtimes(runtimes::Runtimes),
    Kubeconfig(kubeconfig::Kubeconfig),
    Bind(bindings::Bind),
    Unbind(bindings::Unbind),
    Bindings(bindings::Bindings),
    Status(status::Status),
    Leftovers(leftovers::Leftovers),
    Job(jobs::Job),
    Operations(operations::Operations),
    Events(events::Events),
    Orchestrations(orchestrations::Orchestrations),
    Upgrade(upgrade::Upgrade),
    Taskrun(taskrun::Taskrun),
    Reconciliations(reconciliations::Reconciliations),
    Steps(steps::Steps),
    Check(check::Check),
    Keys(keys::Keys),
    Import(import::Import),
    Bench(bench::Bench),
    Catalog(catalog::ServicePlans),
    Completion(completion::Completion),
    Man(completion::Man),
    #[command(hide = true)]
    Reference(completion::Reference),
}

/// All commands, with their examples.
fn command() -> clap::Command {
    examples::added_to(Cli::command())
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = match Cli::from_arg_matches(&command().get_matches()) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let data = cli.data.as_deref();
    let choice = remote::Choice { server: cli.server, context: cli.context, known: cli.known };
    hint::keep(data);
    remote::choose(choice);
    let list = cli.command.list();
    let prepared = if cli.command.is_clients() { remote::prepare(data).await } else { Ok(()) };
    let done = match prepared {
        Ok(()) => Box::pin(run(cli.command, data)).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(code) => code,
        Err(error) if output::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = call_error::text(&error, list);
            eprintln!("Error: {}", output::harmless(&text, "\n\t"));
            ExitCode::FAILURE
        }
    }
}

impl Command {
    /// The words that list what this is about.
    fn list(&self) -> &'static str {
        match self {
            Self::Operations(_) | Self::Events(_) => "operations",
            Self::Orchestrations(_) => "orchestrations",
            Self::Reconciliations(_) => "reconciliations",
            Self::Leftovers(_) => "leftovers",
            Self::Job(_) => "job",
            Self::Landscape(landscape) => landscape.list(),
            _ => "runtimes -S all",
        }
    }

    /// Whether it speaks to a control plane.
    fn is_clients(&self) -> bool {
        #[cfg(feature = "landscape")]
        if matches!(self, Self::Up(_)) {
            return false;
        }
        !matches!(
            self,
            Self::Tour(_)
                | Self::Login(_)
                | Self::Logout(_)
                | Self::Context(_)
                | Self::Broker(_)
                | Self::Provisioner(_)
                | Self::Landscape(_)
                | Self::Steps(_)
                | Self::Check(_)
                | Self::Keys(_)
                | Self::Import(_)
                | Self::Bench(_)
                | Self::Completion(_)
                | Self::Man(_)
                | Self::Reference(_)
        )
    }
}

async fn run(command: Command, data: Option<&Path>) -> anyhow::Result<ExitCode> {
    match command {
        #[cfg(feature = "landscape")]
        Command::Up(command) => Box::pin(command.run(data)).await,
        Command::Tour(command) => Box::pin(command.run(data)).await,
        Command::Token(command) => command.run(data).await,
        Command::Login(command) => command.run(data).await,
        Command::Logout(_) => login::Logout::run(data).await,
        Command::Context(command) => command.run(data),
        Command::Broker(command) => command.run().await,
        Command::Provisioner(command) => command.run().await,
        Command::Landscape(command) => Box::pin(command.run(data)).await,
        Command::Provision(command) => command.run(data).await,
        Command::Update(command) => command.run(data).await,
        Command::Suspend(command) => command.run(data).await,
        Command::Resume(command) => command.run(data).await,
        Command::Deprovision(command) => command.run(data).await,
        Command::Runtimes(command) => command.run(data).await,
        Command::Kubeconfig(command) => command.run(data).await,
        Command::Bind(command) => command.run(data).await,
        Command::Unbind(command) => command.run(data).await,
        Command::Bindings(command) => command.run(data).await,
        Command::Status(command) => command.run(data).await,
        Command::Leftovers(command) => command.run(data).await,
        Command::Job(command) => command.run(data).await,
        Command::Operations(command) => Box::pin(command.run(data)).await,
        Command::Events(command) => command.run(data).await,
        Command::Orchestrations(command) => command.run(data).await,
        Command::Upgrade(command) => command.run(data).await,
        Command::Taskrun(command) => command.run(data).await,
        Command::Reconciliations(command) => command.run(data).await,
        Command::Steps(command) => command.run(),
        Command::Check(command) => command.run(data).await,
        Command::Keys(command) => command.run().await,
        Command::Import(command) => Box::pin(command.run()).await,
        Command::Bench(command) => command.run(data).await,
        Command::Catalog(command) => command.run(data).await,
        Command::Completion(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Reference(_) => completion::Reference::run(),
    }
}
