//! Rounds as tables: of all clusters, and of one with its operations.

use std::{fmt::Write as _, path::Path};

use base::Clock;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    super::{names::Names, which::IdMatch},
    round, runtime,
    time::{known, time},
};
use crate::{
    client::Client,
    output::{self, Format, Head, Layout, age},
};

const HEAD: [Head; 9] = [
    Head::Fixed("NAME"),
    Head::Fixed("SCHEDULING ID"),
    Head::State("STATUS"),
    Head::Wide("SHOOT"),
    Head::Wide("RUNTIME ID"),
    Head::Wide("CREATED AT"),
    Head::Wide("UPDATED"),
    Head::Wide("LOCK"),
    Head::Fixed("AGE"),
];
/// The columns of the known client, as it spells them.
const KNOWN: [&str; 6] =
    ["SCHEDULING ID", "RUNTIME ID", "CREATED AT", "UPDATED", "STATUES", "LOCK"];
const OPERATIONS: [Head; 7] = [
    Head::Fixed("COMPONENT"),
    Head::State("STATE"),
    Head::Wide("PRIORITY"),
    Head::Wide("SCHEDULING ID"),
    Head::Fixed("CORRELATION ID"),
    Head::Wide("UPDATED"),
    Head::Text("REASON"),
];

/// Which rounds are listed.
#[derive(Args)]
pub(super) struct List {
    /// Only these runtimes: ids, prefixes of ids, or names.
    #[arg(short, long, value_delimiter = ',', value_name = "ID")]
    runtime_id: Vec<String>,
    /// Only these Shoots.
    #[arg(short = 'c', long, value_delimiter = ',')]
    shoot: Vec<String>,
    /// Only these statuses.
    #[arg(short = 'S', long, value_delimiter = ',')]
    status: Vec<String>,
    /// Only those that started before this time: 2026/12/31 22:00:00 or 2026/12/31.
    #[arg(long, value_name = "TIME", value_parser = time)]
    before: Option<Timestamp>,
    /// Only those that started after this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    after: Option<Timestamp>,
    /// Only the newest N.
    #[arg(long, value_name = "NUMBER")]
    last: Option<u32>,
    /// table, wide, json, yaml, name, custom=HEADER:PATH[,…], or known: the columns of the known client.
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl List {
    pub(super) async fn run(self, mothership: &Client, data: Option<&Path>) -> anyhow::Result<()> {
        let mut query = Vec::new();
        for which in self.runtime_id.iter().chain(&self.shoot) {
            query.push(("runtimeID", runtime(data, which, IdMatch::Part).await?));
        }
        query.extend(self.status.iter().map(|status| ("status", status.clone())));
        query.extend(self.before.map(|time| ("before", time.to_string())));
        query.extend(self.after.map(|time| ("after", time.to_string())));
        query.extend(self.last.map(|last| ("last", last.to_string())));
        let mut found = mothership.reconciliations(&query).await?;
        // The oldest first, as the known client has them.
        found.sort_by(|one, other| one["created"].as_str().cmp(&other["created"].as_str()));
        if self.output == Format::Known {
            let head = KNOWN.map(str::to_owned).to_vec();
            return output::print(&output::columns(head, found.iter().map(known_row)));
        }
        // Lists are better without names than not at all.
        let names = match Client::connect(data) {
            Ok(broker) => Names::of_runtimes(&broker, &found, "runtimeID", self.output).await,
            Err(_) => Names::none(),
        };
        let found = names.added_to(&found, "runtimeID");
        let now = Clock::running().now();
        let layout = Layout { head: &HEAD, name: "/schedulingID", empty: "no reconciliations" };
        self.output.list(&json!(found), &found, &layout, |it| row(it, &names, now))
    }
}

/// One round.
#[derive(Args)]
pub(super) struct Info {
    /// The reconciliation: its scheduling id or a part of it.
    #[arg(short = 'i', long, value_name = "ID")]
    scheduling_id: String,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Info {
    pub(super) async fn run(self, mothership: &Client) -> anyhow::Result<()> {
        let id = round(mothership, &self.scheduling_id, IdMatch::Part).await?;
        let found = mothership.reconciliation(&id).await?;
        let operations = found["operations"].as_array().cloned().unwrap_or_default();
        let layout = Layout { head: &OPERATIONS, name: "/correlationID", empty: "no operations" };
        self.output.list(&found, &operations, &layout, |it| {
            let columns = ["component", "state", "priority", "schedulingID", "correlationID"];
            let mut row: Vec<String> = columns.iter().map(|key| text(it, key)).collect();
            row.push(when(it, "updated").map(output::time).unwrap_or_default());
            row.push(text(it, "reason"));
            row
        })
    }
}

/// The stored state of a cluster, without its components.
pub(super) fn state(state: &Value) -> String {
    let (status, configuration) = (&state["status"], &state["configuration"]);
    let lines = [
        ("Runtime", text(&state["cluster"], "runtimeID")),
        ("Shoot", text(&state["cluster"]["metadata"], "shootName")),
        ("Status", text(status, "status")),
        ("Since", when(status, "created").map(output::time).unwrap_or_default()),
        ("Kyma", text(configuration, "kymaVersion")),
        ("Profile", text(configuration, "kymaProfile")),
        ("Cluster", text(&state["cluster"], "version")),
        ("Config", text(configuration, "version")),
    ];
    let mut shown = String::new();
    for (name, value) in lines {
        let _ = writeln!(shown, "{name:<8} {value}");
    }
    shown
}

fn row(it: &Value, names: &Names, now: Timestamp) -> Vec<String> {
    let (created, updated) = (when(it, "created"), when(it, "updated"));
    let time = |time: Option<Timestamp>| time.map(output::time).unwrap_or_default();
    vec![
        names.name(&text(it, "runtimeID"), &text(it, "shootName")),
        text(it, "schedulingID"),
        text(it, "status"),
        text(it, "shootName"),
        text(it, "runtimeID"),
        time(created),
        time(updated),
        text(it, "lock"),
        created.map(|at| age(at, now)).unwrap_or_default(),
    ]
}

fn known_row(it: &Value) -> Vec<String> {
    let time = |key: &str| when(it, key).map(known).unwrap_or_default();
    vec![
        text(it, "schedulingID"),
        text(it, "runtimeID"),
        time("created"),
        time("updated"),
        text(it, "status"),
        text(it, "lock"),
    ]
}

fn text(it: &Value, key: &str) -> String {
    match &it[key] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn when(it: &Value, key: &str) -> Option<Timestamp> {
    it[key].as_str()?.parse().ok()
}
