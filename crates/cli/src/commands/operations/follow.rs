//! One operation as it goes by: each journal entry once, until the end.

use std::{process::ExitCode, time::Duration};

use base::Clock;
use domain::OperationId;

use crate::{
    client::Client,
    output::{self, duration},
    timeline::Timeline,
    view::{Entry, Operation},
};

const PAUSE: Duration = Duration::from_millis(500);

/// Prints what happens until the operation ends; fails when it does not succeed.
pub(crate) async fn follow(client: &Client, id: &OperationId) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let mut seen = 0;
    let mut timeline = None;
    loop {
        // The operation first: what its journal says afterwards is at least as new.
        let operation: Operation = serde_json::from_value(client.find(id).await?)?;
        let mut journal: Vec<Entry> = serde_json::from_value(client.journal(id).await?)?;
        journal.retain(|entry| entry.seq > seen);
        seen = journal.last().map_or(seen, |entry| entry.seq);
        let timeline = timeline.get_or_insert_with(|| Timeline::since(operation.created_at));
        output::print(&timeline.next(&journal))?;
        if let Some(ended_at) = operation.ended_at {
            return end(&operation, &duration(operation.created_at, ended_at));
        }
        clock.sleep(PAUSE).await;
    }
}

/// How it ended, and why if not well.
fn end(operation: &Operation, took: &str) -> anyhow::Result<ExitCode> {
    let good = operation.state == "succeeded";
    let why = if good { String::new() } else { operation.reason() };
    let why = if why.is_empty() { why } else { format!(": {why}") };
    let (id, state) = (&operation.id, &operation.state);
    output::print(&format!("operation {id} {state} after {took}{why}\n"))?;
    if !operation.incomplete.is_empty() {
        let steps = operation.incomplete.join(", ");
        output::print(&format!("executed but not completed: {steps}\n"))?;
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
