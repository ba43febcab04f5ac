//! The ledger of calls, as a table or as it grows.

use std::time::Duration;

use base::Clock;
use clap::Args;
use serde_json::Value;

use super::rows;
use crate::{
    client::Client,
    output::{self, Format, table},
};

const PAUSE: Duration = Duration::from_millis(500);
const HEAD: [&str; 9] =
    ["SEQUENCE", "AT", "SYSTEM", "METHOD", "ROUTE", "PHASE", "STATUS", "TROUBLE", "OBJECT"];
const FIELDS: [&str; 9] = [
    "/sequence",
    "/at",
    "/system",
    "/method",
    "/route",
    "/phase",
    "/status",
    "/trouble",
    "/object",
];

/// Show the calls that the simulated systems received.
#[derive(Args)]
pub(super) struct Ledger {
    /// Only lines behind this one.
    #[arg(long, value_name = "SEQUENCE", default_value_t = 0)]
    after: u64,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Only calls of this system.
    #[arg(long)]
    system: Option<String>,
    /// Only calls with this idempotency key.
    #[arg(long)]
    key: Option<String>,
    /// Only calls of this operation.
    #[arg(long, value_name = "ID")]
    operation: Option<String>,
    /// Only lines of this phase: received, applied, replied, lost.
    #[arg(long)]
    phase: Option<String>,
    /// Go on with what happens.
    #[arg(short, long)]
    follow: bool,
}

impl Ledger {
    pub(super) async fn run(mut self, client: &Client, format: Format) -> anyhow::Result<()> {
        let clock = Clock::running();
        loop {
            let page = client.look("reading the ledger", "/ledger", &self.query()).await?;
            match format {
                Format::Json if self.follow => lines(&page["entries"])?,
                Format::Json => output::json(&page)?,
                Format::Table if page["entries"] == Value::Array(Vec::new()) => {}
                Format::Table => output::print(&table(&HEAD, rows(&page["entries"], &FIELDS)))?,
            }
            if !self.follow {
                if format == Format::Table && page["more"] == true {
                    output::print(&format!("there are more: --after {}\n", page["next"]))?;
                }
                return Ok(());
            }
            self.after = page["next"].as_u64().unwrap_or(self.after);
            if page["more"] == false {
                clock.sleep(PAUSE).await;
            }
        }
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = vec![("after", self.after.to_string()), ("limit", self.limit.to_string())];
        let optional = [
            ("system", &self.system),
            ("key", &self.key),
            ("operation", &self.operation),
            ("phase", &self.phase),
        ];
        query.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
        query
    }
}

/// One line of JSON for each entry, as programs read what does not end.
fn lines(entries: &Value) -> anyhow::Result<()> {
    for entry in entries.as_array().into_iter().flatten() {
        output::print(&format!("{entry}\n"))?;
    }
    Ok(())
}
