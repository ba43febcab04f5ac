//! `kcp runtimes`: what runs.

mod events;
mod export;
mod table;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use base::Clock;
use clap::Args;
use serde_json::{Value, json};

use super::which::{self, INSTANCE_ID, RUNTIME_ID};
use crate::{
    client::Client,
    output::{self, Format, Layout, style},
    view::Runtime,
};
use events::EventLevel;
use export::ExportFormat;

/// Words for states, as the broker knows them.
const STATES: [&str; 11] = [
    "succeeded",
    "failed",
    "error",
    "provisioning",
    "deprovisioning",
    "deprovisionincomplete",
    "deprovisioned",
    "upgrading",
    "updating",
    "suspended",
    "all",
];
/// No more are shown of what is gone.
const MOST_REMOVED: usize = 1_000;

/// List runtimes. Options that take several values accept comma-separated lists.
#[derive(Args)]
#[command(visible_alias = "runtime", visible_alias = "rt")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Runtimes {
    /// Only these Shoots: names, or regular expressions that match the whole name.
    #[arg(short = 'c', long, value_delimiter = ',')]
    shoot: Vec<String>,
    /// Only these global accounts.
    #[arg(short = 'g', long, value_delimiter = ',', value_name = "ID")]
    account: Vec<String>,
    /// Only these subaccounts.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    subaccount: Vec<String>,
    /// Only these instances: ids, prefixes of ids, or names of runtimes.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    instance_id: Vec<String>,
    /// Only these runtimes: ids, prefixes of ids, or names.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    runtime_id: Vec<String>,
    /// Only these regions of the providers.
    #[arg(short = 'R', long, value_delimiter = ',')]
    region: Vec<String>,
    /// Only these plans.
    #[arg(short, long, value_delimiter = ',')]
    plan: Vec<String>,
    /// Only these states. Default: all but suspended and removed runtimes.
    #[arg(short = 'S', long, value_delimiter = ',', value_parser = state)]
    state: Vec<String>,
    /// Include all operations of each runtime, not only the last.
    #[arg(long)]
    ops: bool,
    /// Show the events of each runtime below it, for at most 100 runtimes; includes --ops.
    #[arg(long, value_enum, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "all", conflicts_with = "export")]
    events: EventLevel,
    /// Include the Kyma configuration (json, yaml).
    #[arg(long)]
    kyma_config: bool,
    /// Include the cluster configuration (json, yaml).
    #[arg(long)]
    cluster_config: bool,
    /// With what Gardener has of each; the known broker alone tells it.
    #[arg(long, hide = true)]
    gardener_config: bool,
    /// Only expired runtimes.
    #[arg(long)]
    expired: bool,
    /// Include the subscription's global account, which pays.
    #[arg(long)]
    subscription_global_account_id: bool,
    /// Write all of them to this file (- for standard output): CSV if its name ends in .csv, otherwise one JSON object per line.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    export: Option<PathBuf>,
    /// The format of the export, whatever the name of the file.
    #[arg(long, value_name = "FORMAT", requires = "export")]
    export_format: Option<ExportFormat>,
    /// table, wide, json, yaml, name, custom=HEADER:PATH[,…], or known: the columns of the known client.
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Runtimes {
    pub(crate) async fn run(mut self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let removed = self.state.iter().any(|state| state == "deprovisioned");
        if removed && self.instance_id.is_empty() && self.export.is_none() {
            bail!("must provide some Instance IDs when looking up deprovisioned runtimes");
        }
        self.ops |= self.events != EventLevel::None;
        let client = Client::connect(data)?;
        self.instance_id = which::all_ids(&client, &self.instance_id, &INSTANCE_ID).await?;
        self.runtime_id = which::all_ids(&client, &self.runtime_id, &RUNTIME_ID).await?;
        if let Some(file) = &self.export {
            let format = self.export_format(file);
            export::write(&client, self.query(), format, file).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let found = client.runtimes(&self.query(), removed.then_some(MOST_REMOVED)).await?;
        let extra = table::Extra { payer: self.subscription_global_account_id, version: self.ops };
        let now = Clock::running().now();
        let events = match self.output {
            Format::Name | Format::Custom(_) => None,
            _ => events::read(&client, self.events, &found).await?,
        };
        let below = |width| {
            let events = events.as_deref().unwrap_or_default();
            let lines = found.iter().map(|it| events::lines(it, events, now, width));
            lines.collect::<Vec<String>>()
        };
        if self.output == Format::Known {
            let runtimes: Vec<Runtime> = serde_json::from_value(json!(found))?;
            output::print(&events::between(&extra.known(&runtimes), &below(None)))?;
            return Ok(ExitCode::SUCCESS);
        }
        let head = extra.head();
        let layout = Layout { head: &head, name: "/instanceID", empty: "" };
        let row = |value: &Value| extra.row(value, now);
        if matches!(self.output, Format::Table | Format::Wide) && events.is_some() {
            let width = if self.output == Format::Wide { None } else { style::width() };
            let table = self.output.table(&found, &layout, row);
            output::print_styled(&events::between(&table, &below(width)))?;
            return Ok(ExitCode::SUCCESS);
        }
        let count = found.len();
        let answer = json!({ "data": found, "count": count, "totalCount": count });
        self.output.list(&answer, &found, &layout, row)?;
        // As in the known client: another document.
        match (self.output, &events) {
            (Format::Json, Some(events)) => output::json(&json!(events))?,
            (Format::Yaml, Some(events)) => self.output.document(&json!(events))?,
            _ => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    fn export_format(&self, file: &Path) -> ExportFormat {
        let is_csv = file.extension().is_some_and(|it| it.eq_ignore_ascii_case("csv"));
        let by_name = if is_csv { ExportFormat::Csv } else { ExportFormat::Ndjson };
        self.export_format.unwrap_or(by_name)
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        let lists = [
            ("shoot", &self.shoot),
            ("account", &self.account),
            ("subaccount", &self.subaccount),
            ("instance_id", &self.instance_id),
            ("runtime_id", &self.runtime_id),
            ("region", &self.region),
            ("plan", &self.plan),
            ("state", &self.state),
        ];
        let mut query: Vec<_> = lists
            .into_iter()
            .flat_map(|(name, values)| values.iter().map(move |value| (name, value.clone())))
            .collect();
        query.push(("op_detail", if self.ops { "all" } else { "last" }.to_owned()));
        let flags = [
            ("kyma_config", self.kyma_config),
            ("cluster_config", self.cluster_config),
            ("gardener_config", self.gardener_config),
            ("expired", self.expired),
        ];
        query
            .extend(flags.iter().filter(|(_, on)| *on).map(|(name, _)| (*name, "true".to_owned())));
        query
    }
}

fn state(text: &str) -> Result<String, String> {
    let word = text.to_ascii_lowercase();
    if STATES.contains(&word.as_str()) {
        return Ok(word);
    }
    Err(format!("invalid value for state: {text}; one of {}", STATES.join(", ")))
}
