//! One operation as it goes by: each journal entry once, until the end.
//!
//! What a reader would get wrong: the operation outlives the control plane's process, so watching does too. Only an
//! answer that is missing for long ends it.

use std::{process::ExitCode, time::Duration};

use base::Clock;
use domain::OperationId;
use jiff::SignedDuration;

use crate::{
    client::Client,
    output::{self, duration},
    timeline::Timeline,
    view::{Entry, Operation},
};

const PAUSE: Duration = Duration::from_millis(500);
/// How long answers may be missing once there was one: a restart takes less.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// Prints what happens until the operation ends; fails when it does not succeed.
pub(crate) async fn follow(client: &Client, id: &OperationId) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let (mut seen, mut timeline, mut missing_since) = (0, None, None);
    loop {
        match look(client, id).await {
            Ok((operation, mut journal)) => {
                missing_since = None;
                journal.retain(|entry| entry.seq > seen);
                seen = journal.last().map_or(seen, |entry| entry.seq);
                let timeline =
                    timeline.get_or_insert_with(|| Timeline::since(operation.created_at));
                output::print(&timeline.next(&journal))?;
                if let Some(ended_at) = operation.ended_at {
                    return end(&operation, &duration(operation.created_at, ended_at));
                }
            }
            Err(error) if timeline.is_none() => return Err(error),
            Err(error) => {
                let now = clock.now();
                let since = *missing_since.get_or_insert_with(|| {
                    let error = output::harmless(&format!("{error:#}"), "");
                    eprintln!("no answer, still watching: {error}");
                    now
                });
                if now.duration_since(since) > PATIENCE {
                    return Err(error);
                }
            }
        }
        clock.sleep(PAUSE).await;
    }
}

/// The operation first: what its journal says afterwards is at least as new.
async fn look(client: &Client, id: &OperationId) -> anyhow::Result<(Operation, Vec<Entry>)> {
    let operation = serde_json::from_value(client.find(id).await?)?;
    Ok((operation, serde_json::from_value(client.journal(id).await?)?))
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
