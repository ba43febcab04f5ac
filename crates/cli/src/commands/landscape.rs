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

use crate::{client::Client, confirm::Confirmation, output::Format};

/// Run the simulated outside systems alone, or inspect and control those of `kcp up`.
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
    /// Show or change the speed of the simulated systems.
    Speed {
        /// The speed: a factor, or "max" for no delays at all.
        #[arg(value_name = "X")]
        speed: Option<server::Speed>,
    },
    /// Send a simulated system a command, for example `order issuer rotate-keys`.
    Order {
        /// The system.
        system: String,
        /// The command, as `systems -o json` lists them.
        order: String,
        /// The command's parameters, as JSON.
        #[arg(value_name = "JSON", value_parser = from_json)]
        with: Option<Value>,
    },
    /// Print the custom resource definitions of the simulated clusters, for `kubectl apply`.
    #[cfg(feature = "landscape")]
    Crds,
    /// Reset one system or all: delete their objects and end their trouble.
    Reset {
        /// The system; all systems without it.
        system: Option<String>,
        #[command(flatten)]
        confirmation: Confirmation,
    },
}

impl Landscape {
    /// The words that list what the command is about.
    pub(crate) fn list(&self) -> &'static str {
        match self.command {
            Some(Command::Trouble(_)) => "landscape trouble",
            _ => "landscape systems",
        }
    }

    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let Some(command) = self.command else {
            #[cfg(feature = "landscape")]
            return Box::pin(self.serve.run(data)).await;
            #[cfg(not(feature = "landscape"))]
            anyhow::bail!("landscape: this executable was built without the simulated systems");
        };
        #[cfg(feature = "landscape")]
        if matches!(command, Command::Crds) {
            print_definitions(self.output)?;
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
            Command::Speed { speed } => tell_speed(&client, speed, self.output).await?,
            Command::Order { system, order, with } => {
                let path = format!("/systems/{system}/orders/{order}");
                let doing = format!("ordering {order}");
                client.change(&doing, Method::POST, &path, with.as_ref()).await?;
                let done = json!({ "system": system, "order": order });
                self.output.show(&done, &system, || format!("{system}: {order} is done\n"))?;
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
                let name = system.as_deref().unwrap_or("all");
                self.output.show(&json!({ "reset": name }), name, || done)?;
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

/// The definitions as YAML for `kubectl apply`, or chosen fields of them.
#[cfg(feature = "landscape")]
fn print_definitions(format: Format) -> anyhow::Result<()> {
    let all = server::up::definitions();
    if matches!(format, Format::Table | Format::Wide | Format::Known | Format::Yaml) {
        return all.iter().try_for_each(|one| Format::Yaml.document(one));
    }
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": all });
    let layout = crate::output::Layout { head: &[], name: "/metadata/name", empty: "" };
    format.list(&list, &all, &layout, |_| Vec::new())
}

async fn tell_speed(
    client: &Client,
    speed: Option<server::Speed>,
    format: Format,
) -> anyhow::Result<()> {
    if let Some(speed) = speed {
        let speed = match speed {
            server::Speed::Times(factor) => json!(factor),
            server::Speed::Max => json!("max"),
        };
        let body = json!({ "speed": speed });
        client.change("changing the speed", Method::PUT, "/speed", Some(&body)).await?;
    }
    let answer = client.look("asking for the speed", "/speed", &[]).await?;
    let speed = shown(&answer["speed"]);
    format.show(&answer, &speed, || format!("{speed}\n"))
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
