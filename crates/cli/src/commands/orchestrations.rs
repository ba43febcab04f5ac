//! `kcp orchestrations`: how far upgrades of many runtimes are, and what is done about them.

mod detail;
pub(crate) mod watch;

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    client::Client,
    confirm::Confirmation,
    output::{self, Format, Layout},
};

/// Shorter parts of ids fit too much.
const SHORTEST: usize = 4;
const STATES: [&str; 7] =
    ["pending", "failed", "succeeded", "inprogress", "canceled", "canceling", "retrying"];

/// List orchestrations, show one with its operations, and cancel, retry, pause or resume it.
#[derive(Args)]
#[command(visible_alias = "orchestration", visible_alias = "o")]
pub(crate) struct Orchestrations {
    /// The orchestration, or the beginning or end of its id.
    id: Option<String>,
    /// What is done with it.
    #[arg(requires = "id", value_enum)]
    action: Option<Action>,
    /// Only those in these states.
    #[arg(short, long, value_delimiter = ',', value_parser = state, conflicts_with = "operation")]
    state: Vec<String>,
    /// These operations of it.
    #[arg(long, value_delimiter = ',', requires = "id", value_name = "ID")]
    operation: Vec<String>,
    /// With retry: do not wait for the next maintenance window.
    #[arg(short, long)]
    now: bool,
    /// With workers: how many runtimes at a time.
    #[arg(long, value_name = "NUMBER")]
    parallel_workers: Option<u32>,
    /// Show how far it is until it ends, as the action watch does. Fails when a runtime has failed.
    #[arg(short, long, requires = "id", conflicts_with = "action")]
    watch: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

/// What is done with an orchestration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Action {
    /// List its operations.
    #[value(alias = "operations")]
    Ops,
    /// Start nothing more; what runs is seen through.
    Cancel,
    /// Try failed operations again.
    Retry,
    /// Start nothing more until it is resumed.
    Pause,
    /// Go on.
    Resume,
    /// Run another number at a time.
    Workers,
    /// Show how far it is, how fast it goes, and what failed.
    Progress,
    /// The same until it ends. Fails when a runtime has failed.
    Watch,
}

/// The only orchestration whose id begins or ends so; a whole id is not looked up.
async fn whole(client: &Client, which: &str) -> anyhow::Result<String> {
    if Uuid::parse_str(which).is_ok() || which.len() < SHORTEST {
        return Ok(which.to_owned());
    }
    let all = client.orchestrations(&[]).await?;
    let ids = all.iter().filter_map(|it| it["orchestrationID"].as_str());
    let found: Vec<&str> = ids.filter(|id| id.starts_with(which) || id.ends_with(which)).collect();
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => bail!("there is no orchestration \"{which}\""),
        several => {
            bail!("several orchestrations fit \"{which}\": say which, {}", several.join(", "))
        }
    }
}

fn state(text: &str) -> Result<String, String> {
    let word = text.to_ascii_lowercase();
    if !STATES.contains(&word.as_str()) {
        return Err(format!("invalid value for state: {text}"));
    }
    Ok(if word == "inprogress" { "in progress".into() } else { word })
}

impl Orchestrations {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let Some(id) = self.id.as_deref() else {
            let all = client.orchestrations(&self.state).await?;
            self.show_list(&all, detail::list)?;
            return Ok(ExitCode::SUCCESS);
        };
        let id = &whole(&client, id).await?;
        match self.action {
            Some(Action::Watch) => return watch::watch(&client, id, self.output).await,
            None if self.watch => return watch::watch(&client, id, self.output).await,
            Some(Action::Ops) => {
                let all = client.orchestration_operations(id, &self.state).await?;
                self.show_list(&all, detail::operations)?;
            }
            Some(Action::Retry) => {
                let retried = client.retry_orchestration(id, &self.operation, self.now).await?;
                self.show(&retried, detail::retried)?;
            }
            Some(action) => self.change(&client, id, action).await?,
            None if self.operation.is_empty() => {
                self.show(&client.orchestration(id, "").await?, detail::orchestration)?;
            }
            None => {
                for operation in &self.operation {
                    let below = format!("/operations/{operation}");
                    self.show(&client.orchestration(id, &below).await?, detail::operation)?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn change(&self, client: &Client, id: &str, action: Action) -> anyhow::Result<()> {
        match action {
            Action::Cancel => self.cancel(client, id).await,
            Action::Pause => {
                client.change_orchestration(id, "pause").await?;
                output::print(&format!(
                    "orchestration {id} starts nothing more until it is resumed\n"
                ))
            }
            Action::Resume => {
                client.change_orchestration(id, "resume").await?;
                output::print(&format!("orchestration {id} goes on\n"))
            }
            Action::Workers => match self.parallel_workers {
                Some(workers) => {
                    client.orchestration_workers(id, workers).await?;
                    output::print(&format!("orchestration {id} runs {workers} at a time\n"))
                }
                None => bail!("workers missing: give --parallel-workers NUMBER"),
            },
            _ => self.show(&client.orchestration(id, "/progress").await?, watch::text),
        }
    }

    async fn cancel(&self, client: &Client, id: &str) -> anyhow::Result<()> {
        let status = client.orchestration(id, "").await?;
        match status["state"].as_str() {
            Some("canceling" | "canceled") => {
                return output::print("Orchestration is already canceled.\n");
            }
            Some(state @ ("failed" | "succeeded")) => bail!("orchestration is already {state}"),
            _ => {}
        }
        let number = |state: &str| status["operationStats"][state].as_u64().unwrap_or_default();
        let (waiting, running) = (number("pending") + number("retrying"), number("in progress"));
        self.confirmation.ask(&format!(
            "{waiting} operations will be canceled, {running} in progress will still be completed"
        ))?;
        client.change_orchestration(id, "cancel").await?;
        output::print(&format!("orchestration {id} is canceled\n"))
    }

    fn show(&self, answer: &Value, text: fn(&Value) -> String) -> anyhow::Result<()> {
        let id = answer["operationID"].as_str().or(answer["orchestrationID"].as_str());
        self.output.show(answer, id.unwrap_or_default(), || text(answer))
    }

    fn show_list(&self, all: &[Value], text: fn(&[Value]) -> String) -> anyhow::Result<()> {
        if matches!(self.output, Format::Table | Format::Wide | Format::Known) {
            return output::print(&text(all));
        }
        let operations = all.iter().any(|it| it["operationID"].is_string());
        let name = if operations { "/operationID" } else { "/orchestrationID" };
        let count = all.len();
        let answer = json!({ "data": all, "count": count, "totalCount": count });
        let layout = Layout { head: &[], name, empty: "" };
        self.output.list(&answer, all, &layout, |_| Vec::new())
    }
}
