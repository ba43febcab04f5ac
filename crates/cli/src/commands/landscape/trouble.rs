//! Making trouble, and ending it.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::rows;
use crate::{
    client::Client,
    output::{self, Format, table},
};

/// List trouble, make some, or end it.
#[derive(Args)]
pub(super) struct Trouble {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List what has not ended.
    List,
    Make(Make),
    /// End one, or all.
    End {
        /// Its number; all of it without one.
        id: Option<u64>,
    },
}

/// Make a system misbehave for so many calls or seconds.
#[derive(Args)]
struct Make {
    /// The system.
    system: String,
    /// What happens: slow, down, busy, status, reset, lost-answer, malformed, truncated, duplicate, phantom.
    kind: String,
    /// How many calls meet it.
    #[arg(long, value_name = "N", required_unless_present = "seconds")]
    calls: Option<u64>,
    /// How long it lasts.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// How likely a call meets it.
    #[arg(long, value_name = "P")]
    probability: Option<f64>,
    /// Only calls with this method.
    #[arg(long)]
    method: Option<String>,
    /// Only calls whose path begins like this.
    #[arg(long)]
    path: Option<String>,
    /// More about what happens, for example `delay_ms=5000` or `status=502`.
    #[arg(long = "with", value_name = "NAME=VALUE", value_parser = pair)]
    with: Vec<(String, Value)>,
}

fn pair(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("not NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.into(), value))
}

impl Trouble {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        match self.command.unwrap_or(Command::List) {
            Command::List => list(client, format).await,
            Command::Make(make) => {
                let body = make.body();
                client.change("making trouble", Method::POST, "/troubles", Some(&body)).await
            }
            Command::End { id } => {
                let path = id.map_or("/troubles".into(), |id| format!("/troubles/{id}"));
                client.change("ending trouble", Method::DELETE, &path, None).await
            }
        }
    }
}

impl Make {
    fn body(self) -> Value {
        let mut trouble: Map<String, Value> = self.with.into_iter().collect();
        trouble.insert("kind".into(), self.kind.into());
        json!({
            "system": self.system, "calls": self.calls, "seconds": self.seconds,
            "probability": self.probability, "method": self.method, "path": self.path,
            "trouble": trouble,
        })
    }
}

async fn list(client: &Client, format: Format) -> anyhow::Result<()> {
    let answer = client.look("listing trouble", "/troubles", &[]).await?;
    if format == Format::Json {
        return output::json(&answer);
    }
    let head = ["ID", "SYSTEM", "METHOD", "PATH", "PROBABILITY", "CALLS", "UNTIL", "TROUBLE"];
    let fields =
        ["/id", "/system", "/method", "/path", "/probability", "/calls", "/until", "/trouble"];
    output::print(&table(&head, rows(&answer["troubles"], &fields)))
}
