//! One operation as it goes by: each journal entry once, until the end.
//!
//! What a reader would get wrong: the operation outlives the control plane's process, so watching does too. Only an
//! answer that is missing for long ends it.

use std::{process::ExitCode, time::Duration};

use base::Clock;
use domain::OperationId;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::live::Live;
use crate::{
    call_error::CallError,
    client::{Client, is_no_route},
    commands::watching::{Patience, unless_interrupted},
    hint,
    output::{self, Format, duration, style},
    timeline::Timeline,
    view::{Entry, Operation},
};

const PAUSE: Duration = Duration::from_millis(500);
/// Between two looks as platforms see an operation: there is no more to see than its state.
const PLATFORM_PAUSE: Duration = Duration::from_secs(1);

/// Prints what was begun: all at once, or as the first document where others follow.
pub(crate) fn begin(
    format: Format,
    watch: bool,
    document: &Value,
    name: &str,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if watch && format.is_documents() {
        return format.document(document);
    }
    format.show(document, name, text)
}

/// Shows what happens until the operation ends, for people; fails when it does not succeed.
pub(crate) async fn follow(client: &Client, id: &OperationId) -> anyhow::Result<ExitCode> {
    follow_as(client, id, Format::Table).await
}

/// The same; with JSON and YAML one document for each entry of the journal, and the operation as the last one.
pub(crate) async fn follow_as(
    client: &Client,
    id: &OperationId,
    format: Format,
) -> anyhow::Result<ExitCode> {
    if format.is_documents() || format.is_quiet() || !style::is_live() {
        return watch(client, id, &mut FollowOutput::new(format)).await;
    }
    let mut shown = FollowOutput::Terminal(None, Live::default());
    let watched = watch(client, id, &mut shown);
    unless_interrupted(watched, "operation", &format!("operations {id} --watch")).await
}

/// The same for an operation of the instance at this path. A broker without `/operations` is asked as platforms ask it.
pub(crate) async fn follow_order(
    client: &Client,
    order: &str,
    id: &OperationId,
    format: Format,
) -> anyhow::Result<ExitCode> {
    match follow_as(client, id, format).await {
        Err(error) if is_no_route(&error) => poll(client, order, id, format).await,
        followed => followed,
    }
}

/// Shows the state and its description whenever they change, until the end.
async fn poll(
    client: &Client,
    order: &str,
    id: &OperationId,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let began_at = clock.now();
    let (mut patience, mut last) = (Patience::new(&clock, PLATFORM_PAUSE), Value::Null);
    loop {
        let answer = client.last_operation(order, id).await.or_else(gone_is_removed);
        if let Some(answer) = patience.take(answer, || {})? {
            let word = |key: &str| answer[key].as_str().unwrap_or_default();
            let (state, description) = (word("state"), word("description"));
            let why =
                if description.is_empty() { String::new() } else { format!(": {description}") };
            let took = duration(began_at, clock.now());
            if answer != last && format.is_documents() {
                format.document(&json!({ "last_operation": answer }))?;
            }
            match state {
                "succeeded" => {
                    if !format.is_documents() && !format.is_quiet() {
                        output::print(&format!("operation {id} succeeded after {took}\n"))?;
                    }
                    return Ok(ExitCode::SUCCESS);
                }
                "failed" => {
                    if !format.is_documents() {
                        let end = format!("operation {id} failed after {took}{why}");
                        eprintln!("{}", output::harmless(&end, ""));
                    }
                    return Ok(ExitCode::FAILURE);
                }
                _ if answer != last && !format.is_documents() && !format.is_quiet() => {
                    output::print(&format!(
                        "{}\n",
                        output::harmless(&format!("{state}{why}"), "")
                    ))?;
                }
                _ => {}
            }
            last = answer;
        }
        patience.pause().await;
    }
}

/// An instance that is gone was removed: what platforms are answered when a removal has succeeded.
fn gone_is_removed(error: anyhow::Error) -> anyhow::Result<Value> {
    let failed = error.downcast_ref::<CallError>();
    match failed.and_then(|failed| failed.error.status) {
        Some(410) => Ok(json!({"state": "succeeded", "description": "the instance is gone"})),
        _ => Err(error),
    }
}

async fn watch(
    client: &Client,
    id: &OperationId,
    shown: &mut FollowOutput,
) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let (mut patience, mut seen) = (Patience::new(&clock, PAUSE), 0);
    loop {
        let state = look(client, id, shown).await;
        if let Some(State { operation, mut journal, waiting }) =
            patience.take(state, || shown.forget())?
        {
            journal.retain(|entry| entry["seq"].as_i64().is_some_and(|seq| seq > seen));
            seen = journal.last().and_then(|entry| entry["seq"].as_i64()).unwrap_or(seen);
            let known = Operation::deserialize(&operation)?;
            shown.learn(client, &known.kind).await;
            shown.draw(&known, &journal, &waiting, &clock)?;
            if let Some(ended_at) = known.ended_at {
                let took = duration(known.created_at, ended_at);
                return shown.end(&operation, &known, &took);
            }
        }
        patience.pause().await;
    }
}

/// What is known at one moment.
struct State {
    operation: Value,
    journal: Vec<Value>,
    waiting: Value,
}

/// The operation first: what its journal says afterwards is at least as new.
async fn look(client: &Client, id: &OperationId, shown: &FollowOutput) -> anyhow::Result<State> {
    let operation = client.find(id).await?;
    let journal = serde_json::from_value(client.journal(id).await?)?;
    let live = matches!(shown, FollowOutput::Terminal(..));
    let waiting = if live { client.waiting(id).await? } else { Value::Null };
    Ok(State { operation, journal, waiting })
}

/// Where it is shown.
enum FollowOutput {
    Lines(Option<Timeline>),
    Documents(Format),
    /// Standard output belongs to what was chosen: only a failure is shown.
    Quiet,
    Terminal(Option<Timeline>, Live),
}

impl FollowOutput {
    /// Asks once how long such operations usually take. Without the scope for it, the estimate is left out.
    async fn learn(&mut self, client: &Client, kind: &str) {
        if let Self::Terminal(None, live) = self
            && let Ok(answer) = client.usual(kind).await
        {
            live.usually(&answer);
        }
    }
}

impl FollowOutput {
    fn new(format: Format) -> Self {
        match format {
            format if format.is_documents() => Self::Documents(format),
            format if format.is_quiet() => Self::Quiet,
            _ => Self::Lines(None),
        }
    }

    fn draw(
        &mut self,
        operation: &Operation,
        journal: &[Value],
        waiting: &Value,
        clock: &Clock,
    ) -> anyhow::Result<()> {
        let entries: Vec<Entry> =
            journal.iter().map(Entry::deserialize).collect::<Result<_, _>>()?;
        let since = operation.created_at;
        match self {
            Self::Documents(format) => {
                journal.iter().try_for_each(|entry| format.document(&json!({ "entry": entry })))
            }
            Self::Quiet => Ok(()),
            Self::Lines(timeline) => {
                let timeline = timeline.get_or_insert_with(|| Timeline::since(since));
                output::print(&timeline.next(&entries))
            }
            Self::Terminal(timeline, live) => {
                let timeline = timeline.get_or_insert_with(|| Timeline::since(since).live());
                let above = timeline.next(&entries);
                live.draw(&above, operation, waiting, clock.now())
            }
        }
    }

    /// Keeps the drawn lines: the next output goes below them.
    fn forget(&mut self) {
        if let Self::Terminal(_, live) = self {
            live.forget();
        }
    }

    /// How it ended, and why if not well: a failure is written to standard error.
    fn end(&self, whole: &Value, operation: &Operation, took: &str) -> anyhow::Result<ExitCode> {
        let good = operation.state == "succeeded";
        let code = if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        if let Self::Documents(format) = self {
            format.document(&json!({ "operation": whole }))?;
            return Ok(code);
        }
        let (id, state) = (&operation.id, &operation.state);
        let quiet = matches!(self, Self::Quiet);
        if good && !quiet {
            output::print(&format!("operation {id} {state} after {took}\n"))?;
        } else if !good {
            let why = operation.reason();
            let why = if why.is_empty() { why } else { format!(": {why}") };
            let end = format!("operation {id} {state} after {took}{why}");
            eprintln!("{}", output::harmless(&end, ""));
        }
        if !operation.incomplete.is_empty() {
            let steps = operation.incomplete.join(", ");
            let kcp = hint::kcp();
            let line = format!("executed but not completed: {steps}; see {kcp} leftovers\n");
            if quiet {
                eprint!("{}", output::harmless(&line, "\n"));
            } else {
                output::print(&line)?;
            }
        }
        Ok(code)
    }
}
