//! `kcp landscape`: the simulated outside systems, alone or as part of a running control plane.

mod ledger;
mod objects;
#[cfg(feature = "landscape")]
mod serve;
mod systems;
mod trouble;

use std::{path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    confirm::Confirmation,
    output::{self, Format},
};

/// Run the simulated outside systems alone, or look at and change those that run.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Landscape {
    #[command(subcommand)]
    command: Option<Command>,
    #[cfg(feature = "landscape")]
    #[command(flatten)]
    serve: serve::Serve,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, global = true)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    Systems(systems::Systems),
    Objects(objects::Objects),
    #[command(visible_alias = "troubles")]
    Trouble(trouble::Trouble),
    Ledger(ledger::Ledger),
    /// Tell how fast the simulated world is, or change it.
    Speed {
        /// How many times faster than watchable, or "max".
        #[arg(value_name = "X")]
        speed: Option<server::Speed>,
    },
    /// Give a system an order, for example `order issuer rotate-keys`.
    Order {
        /// The system.
        system: String,
        /// The order, as `systems -o json` lists them.
        order: String,
        /// The order's parameters, as JSON.
        #[arg(value_name = "JSON", value_parser = from_json)]
        with: Option<Value>,
    },
    /// Print the definitions of everything that lives in the simulated clusters, for `kubectl apply`.
    #[cfg(feature = "landscape")]
    Crds,
    /// Make one system, or all of them, forget everything and end their trouble.
    Reset {
        /// The system; all of them without it.
        system: Option<String>,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

impl Landscape {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let Some(command) = self.command else {
            #[cfg(feature = "landscape")]
            return Box::pin(self.serve.run(data)).await;
            #[cfg(not(feature = "landscape"))]
            anyhow::bail!("landscape: this executable was built without the simulated systems");
        };
        #[cfg(feature = "landscape")]
        if matches!(command, Command::Crds) {
            output::print(&server::up::definitions()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let client = Client::connect_to_landscape(data)?;
        match command {
            #[cfg(feature = "landscape")]
            Command::Crds => {}
            Command::Systems(systems) => systems.run(&client, self.output).await?,
            Command::Objects(objects) => objects.run(&client, self.output).await?,
            Command::Trouble(trouble) => trouble.run(&client, self.output).await?,
            Command::Ledger(ledger) => ledger.run(&client, data, self.output).await?,
            Command::Speed { speed } => tell_speed(&client, speed).await?,
            Command::Order { system, order, with } => {
                let path = format!("/systems/{system}/orders/{order}");
                let doing = format!("ordering {order}");
                client.change(&doing, Method::POST, &path, with.as_ref()).await?;
                output::print(&format!("{system}: {order} is done\n"))?;
            }
            Command::Reset { system, confirmation } => {
                let which = system.as_deref().unwrap_or("every system of the landscape");
                if let Some(system) = &system {
                    is_there(&client, system).await?;
                }
                confirmation.ask(&format!("Everything that {which} keeps is deleted"))?;
                let path = match &system {
                    Some(name) => format!("/systems/{name}/reset"),
                    None => "/reset".to_owned(),
                };
                let done = format!("{which}: everything is deleted, and its trouble has ended\n");
                client.change("resetting the landscape", Method::POST, &path, None).await?;
                output::print(&done)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses a system that the landscape does not have.
async fn is_there(client: &Client, system: &str) -> anyhow::Result<()> {
    let answer = client.look("listing systems", "/systems", &[]).await?;
    let names: Vec<&str> =
        items(&answer["systems"]).iter().filter_map(|it| it["name"].as_str()).collect();
    if !names.contains(&system) {
        anyhow::bail!("there is no system \"{system}\": {}", names.join(", "));
    }
    Ok(())
}

async fn tell_speed(client: &Client, speed: Option<server::Speed>) -> anyhow::Result<()> {
    if let Some(speed) = speed {
        let speed = match speed {
            server::Speed::Times(factor) => json!(factor),
            server::Speed::Max => json!("max"),
        };
        let body = json!({ "speed": speed });
        client.change("changing the speed", Method::PUT, "/speed", Some(&body)).await?;
    }
    let answer = client.look("asking for the speed", "/speed", &[]).await?;
    output::print(&format!("{}\n", shown(&answer["speed"])))
}

fn from_json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A value as people read it: texts without their quotes, nothing for null.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The elements of a list.
fn items(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The cells of an element: these fields of it.
fn cells<'a>(fields: &'a [&str]) -> impl Fn(&Value) -> Vec<String> + 'a {
    |element| {
        fields.iter().map(|field| element.pointer(field).map(shown).unwrap_or_default()).collect()
    }
}
