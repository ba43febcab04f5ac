//! The ledger of calls, as a table or as it grows.

use std::{path::Path, time::Duration};

use base::Clock;
use clap::Args;
use uuid::Uuid;

use super::{cells, items};
use crate::{
    client::Client,
    commands::{
        watching::Patience,
        which::{self, IdMatch},
    },
    output::{Format, Head, Layout},
};

const PAUSE: Duration = Duration::from_millis(500);
const HEAD: [Head; 9] = [
    Head::Fixed("SEQUENCE"),
    Head::Wide("AT"),
    Head::Fixed("SYSTEM"),
    Head::Fixed("METHOD"),
    Head::State("PHASE"),
    Head::Fixed("STATUS"),
    Head::Text("TROUBLE"),
    Head::Text("ROUTE"),
    Head::Wide("OBJECT"),
];
const FIELDS: [&str; 9] = [
    "/sequence",
    "/at",
    "/system",
    "/method",
    "/phase",
    "/status",
    "/trouble",
    "/route",
    "/object",
];

/// Show the calls that the simulated systems received.
#[derive(Args)]
pub(super) struct Ledger {
    /// Only lines after this one.
    #[arg(long, value_name = "SEQUENCE", default_value_t = 0)]
    after: u64,
    /// The number of entries at most.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Only calls of this system.
    #[arg(long)]
    system: Option<String>,
    /// Only calls with this idempotency key.
    #[arg(long)]
    key: Option<String>,
    /// Only calls of this operation: its id, a part of it, or the name of its runtime for the newest one.
    #[arg(long, value_name = "ID")]
    operation: Option<String>,
    /// Only lines of this phase: received, applied, replied, lost.
    #[arg(long)]
    phase: Option<String>,
    /// Only the newest N lines; the filters count afterwards.
    #[arg(long, value_name = "N", conflicts_with = "after", value_parser = clap::value_parser!(u32).range(1..=1000))]
    tail: Option<u32>,
    /// Follow new calls; with -o json one line of JSON for each, with -o yaml one document.
    #[arg(short, long, visible_alias = "follow", short_alias = 'f')]
    watch: bool,
}

impl Ledger {
    pub(super) async fn run(
        mut self,
        client: &Client,
        data: Option<&Path>,
        format: Format,
    ) -> anyhow::Result<()> {
        // The provisioner's operations are in it too, so that a whole id is not looked up.
        if let Some(operation) = self.operation.as_mut()
            && Uuid::parse_str(operation).is_err()
        {
            let broker = Client::connect(data)?;
            let found = which::operation(&broker, operation, IdMatch::Part).await?;
            *operation = found.to_string();
        }
        let clock = Clock::running();
        let (mut patience, mut is_begun) = (Patience::new(&clock, PAUSE), false);
        let layout = Layout { head: &HEAD, name: "/sequence", empty: "no calls" };
        loop {
            let page = client.look("reading the ledger", "/ledger", &self.query()).await;
            let Some(page) = patience.take(page, || {})? else {
                patience.pause().await;
                continue;
            };
            let entries = items(&page["entries"]);
            match format {
                _ if self.watch && format.is_documents() => {
                    entries.iter().try_for_each(|entry| format.document(entry))?;
                }
                _ if self.watch && entries.is_empty() => {}
                _ if is_begun => format.more(&page, entries, &layout, cells(&FIELDS))?,
                _ => {
                    format.list(&page, entries, &layout, cells(&FIELDS))?;
                    is_begun = true;
                }
            }
            if !self.watch {
                if page["more"] == true {
                    eprintln!("there are more: --after {}", page["next"]);
                }
                return Ok(());
            }
            self.after = page["next"].as_u64().unwrap_or(self.after);
            self.tail = None;
            if page["more"] == false {
                patience.pause().await;
            }
        }
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = match self.tail {
            Some(newest) => vec![("newest", newest.to_string())],
            None => vec![("after", self.after.to_string()), ("limit", self.limit.to_string())],
        };
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
