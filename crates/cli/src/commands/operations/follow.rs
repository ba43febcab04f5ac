//! One operation as it goes by: each journal entry once, until the end.

use std::{process::ExitCode, time::Duration};

use base::Clock;
use domain::OperationId;

use crate::{
    client::Client,
    output::{self, duration, time},
    view::{Entry, Operation},
};

const PAUSE: Duration = Duration::from_millis(500);

/// Prints what happens until the operation ends; fails when it does not succeed.
pub(crate) async fn follow(client: &Client, id: &OperationId) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let mut seen = 0;
    loop {
        // The operation first: what its journal says afterwards is at least as new.
        let operation: Operation = serde_json::from_value(client.find(id).await?)?;
        let journal: Vec<Entry> = serde_json::from_value(client.journal(id).await?)?;
        for entry in journal.iter().filter(|entry| entry.seq > seen) {
            output::print(&line(entry))?;
        }
        seen = journal.last().map_or(seen, |entry| entry.seq);
        if operation.has_ended() {
            output::print(&format!("operation {id} {}\n", operation.state))?;
            let good = operation.state == "succeeded";
            return Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        clock.sleep(PAUSE).await;
    }
}

fn line(entry: &Entry) -> String {
    let place = match (&entry.stage, &entry.step) {
        (Some(stage), Some(step)) => format!("{stage} / {step}"),
        _ => String::new(),
    };
    let took = duration(entry.began_at, entry.ended_at);
    let line = format!(
        "{}  {:<16} {place:<32} {took:>8}  {}",
        time(entry.began_at),
        entry.what(),
        entry.why()
    );
    format!("{}\n", line.trim_end())
}
