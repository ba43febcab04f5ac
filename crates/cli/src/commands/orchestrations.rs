//! `kcp orchestrations`: how far upgrades of many runtimes are, and what is done about them.

mod detail;
pub(crate) mod watch;

use std::{path::Path, process::ExitCode};

use anyhow::bail;
use base::Clock;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    names::Names,
    which::{self, IdMatch},
};
use crate::{
    client::Client,
    confirm::Confirmation,
    output::{self, Format, Layout},
};

const STATES: [&str; 7] =
    ["pending", "failed", "succeeded", "inprogress", "canceled", "canceling", "retrying"];

/// List orchestrations, show one, and cancel, retry, pause or resume it.
#[derive(Args)]
#[command(visible_alias = "orchestration", visible_alias = "o")]
pub(crate) struct Orchestrations {
    /// The orchestration: its id or a part of it.
    id: Option<String>,
    /// The action.
    #[arg(requires = "id", value_enum)]
    action: Option<Action>,
    /// Only these states: pending, inprogress, succeeded, failed, retrying, canceling, canceled.
    #[arg(short, long, value_delimiter = ',', value_parser = state, conflicts_with = "operation")]
    state: Vec<String>,
    /// Only these operations of the orchestration, by their ids or parts of them.
    #[arg(long, value_delimiter = ',', requires = "id", value_name = "ID")]
    operation: Vec<String>,
    /// With retry: do not wait for the next maintenance window.
    #[arg(short, long)]
    now: bool,
    /// With workers: the number of runtimes at a time.
    #[arg(long, value_name = "NUMBER")]
    parallel_workers: Option<u32>,
    /// Watch the progress until the end, as the action watch does. Fails when a runtime fails, or after a cancel.
    #[arg(short, long, requires = "id", conflicts_with = "action")]
    watch: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    /// table, wide, known (the known client's columns), json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

/// What is done with an orchestration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Action {
    /// List the operations.
    #[value(alias = "operations")]
    Ops,
    /// Start no further operations; those that run are completed.
    Cancel,
    /// Try failed operations again.
    Retry,
    /// Start no further operations until resumed.
    Pause,
    /// Continue after a pause.
    Resume,
    /// Change the number of runtimes at a time.
    Workers,
    /// Show progress, rate and failures.
    Progress,
    /// Watch the progress until the end. Fails when a runtime fails, or after a cancel.
    Watch,
}

/// The only orchestration whose id begins or ends so; a whole id is not looked up.
async fn whole(client: &Client, word: &str, enough: IdMatch) -> anyhow::Result<String> {
    if Uuid::parse_str(word).is_ok() {
        return Ok(word.to_owned());
    }
    let all = client.orchestrations(&[]).await?;
    let ids: Vec<&str> = all.iter().filter_map(|it| it["orchestrationID"].as_str()).collect();
    Ok(which::one_of("orchestration", word, &ids, enough)?.to_owned())
}

fn state(text: &str) -> Result<String, String> {
    let word = text.to_ascii_lowercase();
    if !STATES.contains(&word.as_str()) {
        return Err(format!("invalid value for state: {text}"));
    }
    Ok(if word == "inprogress" { "in progress".into() } else { word })
}

impl Orchestrations {
    pub(crate) async fn run(mut self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        let Some(id) = self.id.take() else {
            let all = client.orchestrations(&self.state).await?;
            self.show_all(&all)?;
            return Ok(ExitCode::SUCCESS);
        };
        let id = &whole(&client, &id, self.enough()).await?;
        self.operation = self.operations(&client, id).await?;
        match self.action {
            Some(Action::Watch) => return watch::watch(&client, id, self.output).await,
            None if self.watch => return watch::watch(&client, id, self.output).await,
            Some(Action::Ops) => {
                let all = client.orchestration_operations(id, &self.state).await?;
                self.show_operations(&client, &all).await?;
            }
            Some(Action::Retry) => {
                let what = match self.operation.as_slice() {
                    [] => "all failed operations".to_owned(),
                    some => format!("operations {}", some.join(", ")),
                };
                self.ask(&client, id, &format!("Retry {what} of")).await?;
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

    /// How much of an id is enough for this action.
    fn enough(&self) -> IdMatch {
        match self.action {
            None | Some(Action::Ops | Action::Progress | Action::Watch) => IdMatch::Part,
            Some(
                Action::Cancel | Action::Retry | Action::Pause | Action::Resume | Action::Workers,
            ) => IdMatch::of_change(&self.confirmation, false),
        }
    }

    /// The operations that are named, by their whole ids.
    async fn operations(&self, client: &Client, id: &str) -> anyhow::Result<Vec<String>> {
        if self.operation.iter().all(|word| Uuid::parse_str(word).is_ok()) {
            return Ok(self.operation.clone());
        }
        let all = client.orchestration_operations(id, &[]).await?;
        let ids: Vec<&str> = all.iter().filter_map(|it| it["operationID"].as_str()).collect();
        let whole = |word: &String| which::one_of("operation", word, &ids, self.enough());
        self.operation.iter().map(|word| whole(word).map(str::to_owned)).collect()
    }

    async fn change(&self, client: &Client, id: &str, action: Action) -> anyhow::Result<()> {
        match action {
            Action::Cancel => self.cancel(client, id).await,
            Action::Pause => {
                self.ask(client, id, "Pause").await?;
                client.change_orchestration(id, "pause").await?;
                output::print(&format!(
                    "orchestration {id} starts nothing more until it is resumed\n"
                ))
            }
            Action::Resume => {
                self.ask(client, id, "Resume").await?;
                client.change_orchestration(id, "resume").await?;
                output::print(&format!("orchestration {id} goes on\n"))
            }
            Action::Workers => match self.parallel_workers {
                Some(workers) => {
                    self.ask(client, id, &format!("Use {workers} workers for")).await?;
                    client.orchestration_workers(id, workers).await?;
                    output::print(&format!("orchestration {id} runs {workers} at a time\n"))
                }
                None => bail!("workers missing: give --parallel-workers NUMBER"),
            },
            _ => {
                let progress = client.progress(id).await?;
                let slowest = progress["slowest"].as_array().map(Vec::as_slice).unwrap_or_default();
                let names = Names::of_shoots(client, slowest, "shootName", self.output).await;
                self.show(&progress, |progress| watch::text(progress, &names))
            }
        }
    }

    /// Asks whether this shall be done with the orchestration, which must exist.
    async fn ask(&self, client: &Client, id: &str, doing: &str) -> anyhow::Result<()> {
        if !self.confirmation.is_given() {
            client.orchestration(id, "").await?;
        }
        self.confirmation.ask(&format!("{doing} orchestration {id}"))
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
            "Cancel orchestration {id}: {waiting} operations will be canceled, {running} in progress will still be \
             completed"
        ))?;
        client.change_orchestration(id, "cancel").await?;
        output::print(&format!("orchestration {id} is canceled\n"))
    }

    fn show(&self, answer: &Value, text: impl FnOnce(&Value) -> String) -> anyhow::Result<()> {
        let id = answer["operationID"].as_str().or(answer["orchestrationID"].as_str());
        self.output.show(answer, id.unwrap_or_default(), || text(answer))
    }

    fn show_all(&self, all: &[Value]) -> anyhow::Result<()> {
        if self.output == Format::Known {
            return output::print(&detail::known(all));
        }
        let now = Clock::running().now();
        let empty = "no orchestrations";
        let layout = Layout { head: &detail::LIST, name: "/orchestrationID", empty };
        self.output.list(&counted(all), all, &layout, |it| detail::row(it, now))
    }

    async fn show_operations(&self, client: &Client, all: &[Value]) -> anyhow::Result<()> {
        if self.output == Format::Known {
            return output::print(&detail::known_operations(all));
        }
        let names = Names::of(client, all, "instanceID", self.output).await;
        let all = names.added_to(all, "instanceID");
        let empty = "no operations";
        let layout = Layout { head: &detail::OPERATIONS, name: "/operationID", empty };
        self.output.list(&counted(&all), &all, &layout, |it| detail::operation_row(it, &names))
    }
}

/// A list as the broker answers a page of it.
fn counted(all: &[Value]) -> Value {
    let count = all.len();
    json!({ "data": all, "count": count, "totalCount": count })
}
