//! `kcp events`: what happened to an instance, the journals of its operations and the audit, in order of time.

use std::{path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use serde_json::Value;

use super::which::{self, IdMatch};
use crate::{
    client::Client,
    output::{Format, Head, Layout},
};

const HEAD: [Head; 4] =
    [Head::Fixed("AT"), Head::State("LEVEL"), Head::Fixed("OPERATION"), Head::Text("MESSAGE")];

/// Show the events of an instance: the journals of its operations and the audit.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Events {
    #[command(subcommand)]
    command: Option<Command>,
    /// The instance: its id or a prefix of it, or the name or Shoot of its runtime. With --provisioner, the runtime.
    #[arg(required = true)]
    instance: Option<String>,
    /// The provisioner's events instead of the broker's.
    #[arg(long, global = true)]
    provisioner: bool,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, global = true)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    /// Verify that no entry of the audit was changed, removed or added. Fails otherwise.
    Verify,
}

impl Events {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = if self.provisioner {
            Client::connect_to_provisioner(data)?
        } else {
            Client::connect(data)?
        };
        if let Some(Command::Verify) = self.command {
            return verify(&client, self.output).await;
        }
        let which = self.instance.unwrap_or_default();
        // One that is removed is found by its id alone.
        let instance = if uuid::Uuid::parse_str(&which).is_ok() {
            which
        } else if self.provisioner {
            which::worked_on(&client, &which, IdMatch::Part).await?.unwrap_or(which)
        } else {
            which::instance(&client, &which, IdMatch::Part).await?
        };
        let mut events = client.events(&[instance.as_str()]).await?;
        // It may be the id of a runtime, and for the provisioner that of an instance.
        if events.as_array().is_some_and(Vec::is_empty)
            && let Ok(Some(found)) = which::worked_on(&client, &instance, IdMatch::Part).await
            && found != instance
        {
            events = client.events(&[found.as_str()]).await?;
        }
        let layout = Layout { head: &HEAD, name: "/ID", empty: "no events" };
        let items = events.as_array().map(Vec::as_slice).unwrap_or_default();
        self.output.list(&events, items, &layout, row)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(event: &Value) -> Vec<String> {
    let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
    let operation = text("OperationID").chars().rev().take(8).collect::<Vec<_>>();
    let operation = operation.into_iter().rev().collect();
    vec![text("CreatedAt"), text("Level"), operation, text("Message")]
}

async fn verify(client: &Client, format: Format) -> anyhow::Result<ExitCode> {
    let verified = client.verify_audit().await?;
    let whole = verified["whole"] == true;
    let digest = verified["digest"].as_str().unwrap_or_default();
    format.show(&verified, digest, || {
        let (first, last) = (&verified["first"], &verified["last"]);
        let problem = verified["problem"].as_str().unwrap_or("every entry is what it was");
        format!("entries {first} to {last}: {problem}\ndigest  {digest}\n")
    })?;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
