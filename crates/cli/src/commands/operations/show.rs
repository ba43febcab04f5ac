//! One operation: what it is, why it waits, and everything that happened to it.

use std::fmt::Write;

use base::Clock;
use domain::OperationId;
use jiff::Timestamp;
use serde_json::json;

use crate::{
    client::Client,
    output::{self, Format, duration, relative, time},
    timeline::Timeline,
    view::{Entry, Operation, Waiting},
};

pub(crate) async fn show(client: &Client, id: &OperationId, format: Format) -> anyhow::Result<()> {
    let (operation, journal, waiting) =
        tokio::try_join!(client.find(id), client.journal(id), client.waiting(id))?;
    if !matches!(format, Format::Table | Format::Wide) {
        let all = json!({ "operation": operation, "waiting": waiting, "journal": journal });
        return format.show(&all, &id.to_string(), String::new);
    }
    let now = Clock::running().now();
    let of = [operation];
    let names = super::names(client, &of, format).await;
    let [operation] = of;
    let operation: Operation = serde_json::from_value(operation)?;
    let mut text = header(&operation, names.get(&operation.instance), now);
    text.push_str(&why(&serde_json::from_value(waiting)?, now));
    text.push('\n');
    let journal: Vec<Entry> = serde_json::from_value(journal)?;
    text.push_str(&Timeline::since(operation.created_at).next(&journal));
    if journal.is_empty() {
        text.push_str("its journal is trimmed\n");
    }
    output::print(&text)
}

fn header(operation: &Operation, name: Option<&str>, now: Timestamp) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    line("Operation", &operation.id.to_string());
    if let Some(name) = name {
        line("Name", name);
    }
    line("Kind", &operation.kind);
    line("Instance", &operation.instance);
    line("State", &operation.state);
    let ago = |at: Timestamp| format!("{}, {}", time(at), relative(at, now));
    line("Accepted", &ago(operation.created_at));
    if let Some(started_at) = operation.started_at {
        line("Started", &format!("{} later", duration(operation.created_at, started_at)));
    }
    if let Some(ended_at) = operation.ended_at {
        let took = duration(operation.created_at, ended_at);
        line("Ended", &format!("{}, after {took}", ago(ended_at)));
        let why = operation.reason();
        if operation.state != "succeeded" && !why.is_empty() {
            line("Because", &why);
        }
    }
    if let Some(cancel) = &operation.cancel {
        line("Asked", &format!("to end: {}", cancel.reason));
    }
    if !operation.incomplete.is_empty() {
        line("Given up", &operation.incomplete.join(", "));
    }
    text
}

/// Why it does not go on right now, and what happens if it never does.
fn why(waiting: &Waiting, now: Timestamp) -> String {
    if waiting.kind == "ended" {
        return String::new();
    }
    let place = match (&waiting.step, &waiting.place) {
        (Some(step), Some(place)) => format!(" at {step} ({place})"),
        (Some(step), None) => format!(" at {step}"),
        _ => String::new(),
    };
    let mut text = format!("Now        {}{place}: {}\n", waiting.kind, waiting.reason);
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    let both = |at: Timestamp| format!("{}, {}", relative(at, now), time(at));
    if let Some(since) = waiting.since {
        line("Since", both(since));
    }
    if let Some(next_try) = waiting.next_try {
        line("Next try", both(next_try));
    }
    if let (Some(limit_at), Some(at_limit)) = (waiting.limit_at, &waiting.at_limit) {
        line("Limit", format!("{}: then {at_limit}", both(limit_at)));
    }
    text
}
