//! One operation: what it is, why it waits, and everything that happened to it.

use std::fmt::Write;

use domain::OperationId;
use serde_json::json;

use crate::{
    client::Client,
    output::{self, Format, duration, table, time},
    view::{Entry, Operation, Waiting},
};

pub(super) async fn show(client: &Client, id: &OperationId, format: Format) -> anyhow::Result<()> {
    let (operation, journal, waiting) =
        tokio::try_join!(client.find(id), client.journal(id), client.waiting(id))?;
    if format == Format::Json {
        let all = json!({ "operation": operation, "waiting": waiting, "journal": journal });
        return output::json(&all);
    }
    let mut text = header(&serde_json::from_value(operation)?);
    text.push_str(&why(&serde_json::from_value(waiting)?));
    text.push('\n');
    text.push_str(&entries(&serde_json::from_value::<Vec<Entry>>(journal)?));
    output::print(&text)
}

fn header(operation: &Operation) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    line("Operation", &operation.id.to_string());
    line("Kind", &operation.kind);
    line("Instance", &operation.instance);
    line("State", &operation.state);
    line("Accepted", &time(operation.created_at));
    if let Some(started_at) = operation.started_at {
        line("Started", &time(started_at));
    }
    if let Some(ended_at) = operation.ended_at {
        line("Ended", &time(ended_at));
    }
    if let Some(cancel) = &operation.cancel {
        line("Canceled", &cancel.reason);
    }
    text
}

/// Why it does not go on right now, and what happens if it never does.
pub(super) fn why(waiting: &Waiting) -> String {
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
    if let Some(since) = waiting.since {
        line("Since", time(since));
    }
    if let Some(next_try) = waiting.next_try {
        line("Next try", time(next_try));
    }
    if let (Some(limit_at), Some(at_limit)) = (waiting.limit_at, &waiting.at_limit) {
        line("Limit", format!("{}, then {at_limit}", time(limit_at)));
    }
    text
}

fn entries(journal: &[Entry]) -> String {
    let head = ["STAGE", "STEP", "OUTCOME", "TIMES", "BEGAN", "DURATION", "REASON", "NEXT TRY"];
    table(
        &head,
        journal.iter().map(|entry| {
            vec![
                entry.stage.clone().unwrap_or_default(),
                entry.step.clone().unwrap_or_default(),
                entry.what().to_owned(),
                entry.times.to_string(),
                time(entry.began_at),
                duration(entry.began_at, entry.ended_at),
                entry.why(),
                entry.next_at.map(time).unwrap_or_default(),
            ]
        }),
    )
}
