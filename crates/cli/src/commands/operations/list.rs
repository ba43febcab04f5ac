//! A table of operations, newest first.

use base::Clock;
use clap::Args;
use jiff::Timestamp;
use serde::Deserialize as _;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{
    names::Names,
    which::{self, IdMatch},
};
use crate::{
    client::Client,
    output::{self, Format, Head, Layout, age, time},
    view::Operation,
};

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
    /// The number of entries at most.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Only operations after this one.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Only operations in this state, for example "in progress".
    #[arg(long)]
    state: Option<String>,
    /// Only operations of this instance: its id, or the name or Shoot of its runtime.
    #[arg(long, value_name = "ID")]
    instance: Option<String>,
}

impl List {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let mut query = vec![("limit", self.limit.to_string())];
        if let Some(after) = &self.after {
            let after = which::operation(client, after, IdMatch::Part).await?;
            query.push(("after", after.to_string()));
        }
        query.extend(self.state.map(|state| ("state", state)));
        if let Some(instance) = self.instance {
            // Jobs and removed instances are no runtimes, and have operations. A whole id needs no look-up that succeeds.
            let found = which::worked_on(client, &instance, IdMatch::Part).await;
            let found =
                if Uuid::parse_str(&instance).is_ok() { found.ok().flatten() } else { found? };
            query.push(("instance", found.unwrap_or(instance)));
        }
        let mut answer = client.list(&query).await?;
        let items = answer["operations"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names = super::names(client, items, format).await;
        let items = names.added_to(items, "instance");
        answer["operations"] = json!(items);
        let now = Clock::running().now();
        let layout = Layout { head: &HEAD, name: "/id", empty: "no operations" };
        format.list(&answer, &items, &layout, |value| row(value, &names, now))?;
        if let Some(next) = answer["next"].as_str() {
            eprintln!("there are more: --after {}", output::harmless(next, ""));
        }
        Ok(())
    }
}

fn row(value: &Value, names: &Names, now: Timestamp) -> Vec<String> {
    let Ok(operation) = Operation::deserialize(value) else { return Vec::new() };
    let of = |text: &Option<String>| text.clone().unwrap_or_default();
    vec![
        names.name(&operation.instance, ""),
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
