//! A table of operations, newest first.

use std::collections::{BTreeMap, BTreeSet};

use base::Clock;
use clap::Args;
use jiff::Timestamp;
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    client::Client,
    output::{self, Format, Head, Layout, age, time},
    view::Operation,
};

/// How many runtimes are asked for by id at once: as many as fit an address.
const AT_ONCE: usize = 50;
/// So much of its instance stands for an operation whose runtime has no name or is gone.
const SHORT: usize = 8;
const HEAD: [Head; 10] = [
    Head::Fixed("NAME"),
    Head::Fixed("OPERATION"),
    Head::Fixed("KIND"),
    Head::State("STATE"),
    Head::Fixed("AGE"),
    Head::Wide("INSTANCE"),
    Head::Wide("STAGE"),
    Head::Wide("STEP"),
    Head::Wide("ACCEPTED"),
    Head::Text("REASON"),
];

/// Which operations to list.
#[derive(Args)]
pub(super) struct List {
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Only those behind this one.
    #[arg(long, value_name = "ID")]
    after: Option<domain::OperationId>,
    /// Only those in this state, for example "in progress".
    #[arg(long)]
    state: Option<String>,
    /// Only those of this instance.
    #[arg(long, value_name = "ID")]
    instance: Option<String>,
}

impl List {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let mut query = vec![("limit", self.limit.to_string())];
        query.extend(self.after.map(|id| ("after", id.to_string())));
        query.extend(self.state.map(|state| ("state", state)));
        query.extend(self.instance.map(|id| ("instance", id)));
        let answer = client.list(&query).await?;
        let items = answer["operations"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names = names(client, items).await;
        let now = Clock::running().now();
        let layout = Layout { head: &HEAD, name: "/id", empty: "no operations" };
        format.list(&answer, items, &layout, |value| row(value, &names, now))?;
        if let Some(next) = answer["next"].as_str() {
            eprintln!("there are more: --after {}", output::harmless(next, ""));
        }
        Ok(())
    }
}

/// What the runtimes of these operations are called. A list without names is better than none, so that failures do not count.
async fn names(client: &Client, operations: &[Value]) -> BTreeMap<String, String> {
    let instances: BTreeSet<&str> =
        operations.iter().filter_map(|it| it["instance"].as_str()).collect();
    let instances: Vec<&str> = instances.into_iter().collect();
    let mut names = BTreeMap::new();
    if !client.has_runtimes() {
        return names;
    }
    for part in instances.chunks(AT_ONCE) {
        let mut query = vec![("state", "all".to_owned()), ("op_detail", "last".to_owned())];
        query.extend(part.iter().map(|instance| ("instance_id", (*instance).to_owned())));
        let found = client.runtimes_seen(&query).await.unwrap_or_default();
        names.extend(found.into_iter().map(|it| (it.instance_id.clone(), it.name().to_owned())));
    }
    names
}

fn row(value: &Value, names: &BTreeMap<String, String>, now: Timestamp) -> Vec<String> {
    let Ok(operation) = Operation::deserialize(value) else { return Vec::new() };
    let of = |text: &Option<String>| text.clone().unwrap_or_default();
    let short = || operation.instance.chars().take(SHORT).collect();
    let name = names.get(&operation.instance).filter(|name| !name.is_empty()).cloned();
    vec![
        name.unwrap_or_else(short),
        operation.id.to_string(),
        operation.kind.clone(),
        operation.state.clone(),
        age(operation.created_at, now),
        operation.instance.clone(),
        of(&operation.stage),
        of(&operation.step),
        time(operation.created_at),
        operation.reason(),
    ]
}
