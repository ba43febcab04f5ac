//! `kcp runtimes`: what runs.

mod custom;
mod export;
mod table;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
};

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};

use crate::{client::Client, output};
use custom::Column;
use export::Format;

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

/// List runtimes; lists of values take commas.
#[derive(Args)]
#[command(visible_alias = "runtime", visible_alias = "rt")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Runtimes {
    /// Only those of these Shoots: names, or regular expressions that fit the whole name.
    #[arg(short = 'c', long, value_delimiter = ',')]
    shoot: Vec<String>,
    /// Only those of these global accounts.
    #[arg(short = 'g', long, value_delimiter = ',', value_name = "ID")]
    account: Vec<String>,
    /// Only those of these subaccounts.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    subaccount: Vec<String>,
    /// Only these instances.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    instance_id: Vec<String>,
    /// Only these runtimes.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    runtime_id: Vec<String>,
    /// Only those in these regions of the providers.
    #[arg(short = 'R', long, value_delimiter = ',')]
    region: Vec<String>,
    /// Only those of these plans.
    #[arg(short, long, value_delimiter = ',')]
    plan: Vec<String>,
    /// Only those in these states; without it, all but suspended and removed ones.
    #[arg(short = 'S', long, value_delimiter = ',', value_parser = state)]
    state: Vec<String>,
    /// Tell all operations of each, not only the last.
    #[arg(long)]
    ops: bool,
    /// With the Kyma that each shall have.
    #[arg(long)]
    kyma_config: bool,
    /// With the cluster that each shall be.
    #[arg(long)]
    cluster_config: bool,
    /// Only those that have expired.
    #[arg(long)]
    expired: bool,
    /// With the global account that pays.
    #[arg(long)]
    subscription_global_account_id: bool,
    /// Write all of them to this file, - for standard output; CSV when its name ends with .csv or with -o csv, otherwise one
    /// JSON object on each line.
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// table, wide, json, custom=HEADER:PATH[,…]; ndjson or csv for an export.
    #[arg(short, long, default_value = "table")]
    output: Look,
}

/// How the answer looks.
#[derive(Debug, Clone)]
enum Look {
    /// The usual columns.
    Table,
    /// With instance and name.
    Wide,
    /// The whole answer.
    Json,
    /// Columns that were asked for.
    Custom(Vec<Column>),
    /// All of them, as a stream.
    Exported(Format),
}

impl FromStr for Look {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "table" => Ok(Self::Table),
            "wide" => Ok(Self::Wide),
            "json" => Ok(Self::Json),
            "ndjson" => Ok(Self::Exported(Format::Ndjson)),
            "csv" => Ok(Self::Exported(Format::Csv)),
            other => match other.strip_prefix("custom=") {
                Some(columns) => custom::columns(columns).map(Self::Custom),
                None => Err(format!("invalid value for output: {other}")),
            },
        }
    }
}

impl Runtimes {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        if let Some(file) = self.exported_to()? {
            let format = self.format(file);
            export::write(&Client::connect(data)?, self.query(), format, file).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let removed = self.state.iter().any(|state| state == "deprovisioned");
        if removed && self.instance_id.is_empty() {
            bail!("must provide some Instance IDs when looking up deprovisioned runtimes");
        }
        let client = Client::connect(data)?;
        let found = client.runtimes(&self.query(), removed.then_some(MOST_REMOVED)).await?;
        match &self.output {
            Look::Json => {
                let count = found.len();
                output::json(&json!({ "data": found, "count": count, "totalCount": count }))?;
            }
            Look::Custom(columns) => output::print(&custom::text(columns, &found))?,
            look => {
                let wide = matches!(look, Look::Wide);
                let columns = table::Columns {
                    wide,
                    payer: self.subscription_global_account_id,
                    version: self.ops,
                };
                output::print(
                    &columns.text(&serde_json::from_value::<Vec<_>>(Value::from(found))?),
                )?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Where an export goes; none when there is none.
    fn exported_to(&self) -> anyhow::Result<Option<&Path>> {
        match (&self.export, &self.output) {
            (Some(file), Look::Table | Look::Exported(_)) => Ok(Some(file)),
            (Some(_), _) => bail!("an export is ndjson or csv"),
            (None, Look::Exported(_)) => Ok(Some(Path::new("-"))),
            (None, _) => Ok(None),
        }
    }

    fn format(&self, file: &Path) -> Format {
        match self.output {
            Look::Exported(format) => format,
            _ if file.extension().is_some_and(|it| it.eq_ignore_ascii_case("csv")) => Format::Csv,
            _ => Format::Ndjson,
        }
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
    Err(format!("invalid value for state: {text}"))
}
