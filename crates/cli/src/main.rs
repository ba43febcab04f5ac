//! The one executable: server and operator's client. Reads the command line and hands over.

mod client;
mod commands;
mod confirm;
mod connection;
mod output;
mod timeline;
mod view;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use commands::{
    activity, bench, bindings, broker, check, deprovision, events, import, jobs, keys, kubeconfig,
    landscape, leftovers, operations, orchestrations, plan, provision, provisioner, runtimes,
    status, up, update, upgrade,
};

/// A control plane for managed Kubernetes runtimes.
#[derive(Parser)]
#[command(name = "kcp", version, about, propagate_version = true)]
struct Cli {
    /// The folder of the control plane on this machine [default: ./.kcp].
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Up(up::Up),
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
    Plan(plan::Plan),
    Check(check::Check),
    Keys(keys::Keys),
    Import(import::Import),
    Bench(bench::Bench),
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let data = cli.data.as_deref();
    let done = match cli.command {
        Command::Up(command) => Box::pin(command.run(data)).await,
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
        Command::Operations(command) => command.run(data).await,
        Command::Events(command) => command.run(data).await,
        Command::Orchestrations(command) => command.run(data).await,
        Command::Upgrade(command) => command.run(data).await,
        Command::Plan(command) => command.run(),
        Command::Check(command) => command.run().await,
        Command::Keys(command) => command.run().await,
        Command::Import(command) => Box::pin(command.run()).await,
        Command::Bench(command) => command.run(data).await,
    };
    match done {
        Ok(code) => code,
        Err(error) if output::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {}", output::harmless(&format!("{error:#}"), "\n\t"));
            ExitCode::FAILURE
        }
    }
}
