//! `kcp runtimes --events`: what happened to each runtime, in lines below its row.

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    client::Client,
    output::{age, cut, harmless},
};

/// Of how many runtimes at most, as in the known client.
const MOST: usize = 100;
/// For how many the broker is asked at once: an answer has a limit.
const AT_ONCE: usize = 10;
/// What operations did, and where the status of a runtime has them.
const SORTS: [(&str, &str); 7] = [
    ("provision", "provisioning"),
    ("deprovision", "deprovisioning"),
    ("update", "update"),
    ("kyma upgrade", "upgradingKyma"),
    ("cluster upgrade", "upgradingCluster"),
    ("suspension", "suspension"),
    ("unsuspension", "unsuspension"),
];

/// Which events are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EventLevel {
    All,
    Info,
    Error,
    None,
}

impl EventLevel {
    fn fits(self, event: &Value) -> bool {
        match self {
            Self::All => true,
            Self::Info => event["Level"] == "info",
            Self::Error => event["Level"] == "error",
            Self::None => false,
        }
    }
}

/// The events of these runtimes; none where they are not wanted, and of too many runtimes.
pub(super) async fn read(
    client: &Client,
    level: EventLevel,
    runtimes: &[Value],
) -> anyhow::Result<Option<Vec<Value>>> {
    if level == EventLevel::None || runtimes.is_empty() {
        return Ok(None);
    }
    let count = runtimes.len();
    if count > MOST {
        eprintln!("no events are shown: choose at most {MOST} runtimes, these are {count}");
        return Ok(None);
    }
    let ids: Vec<&str> = runtimes.iter().map(|it| text(it, "instanceID")).collect();
    let mut events = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let answer = client.events(some).await?;
        let all = answer.as_array().into_iter().flatten();
        events.extend(all.filter(|event| level.fits(event)).cloned());
    }
    Ok(Some(events))
}

/// A table of runtimes with these lines below its rows.
pub(super) fn between(table: &str, below: &[String]) -> String {
    let mut lines = table.lines();
    let mut text = format!("{}\n", lines.next().unwrap_or_default());
    for (row, below) in lines.zip(below) {
        text.push_str(row);
        text.push('\n');
        text.push_str(below);
    }
    text
}

/// The lines below a runtime: its operations, and the events of each.
pub(super) fn lines(
    runtime: &Value,
    events: &[Value],
    now: Timestamp,
    width: Option<usize>,
) -> String {
    let own = events.iter().filter(|it| it["InstanceID"] == runtime["instanceID"]);
    let mut lines = Vec::new();
    let mut above = None;
    for event in counted(own) {
        if above != Some(event.operation) {
            above = Some(event.operation);
            lines.push(format!("  {}", operation(runtime, event.operation)));
        }
        let (level, when, message) = (event.level, event.when(now), event.message);
        lines.push(format!("    {level:<5}  {when:<4}  {message}"));
    }
    lines.iter().fold(String::new(), |mut shown, line| {
        let line = harmless(line, "");
        shown.push_str(&width.map_or_else(|| line.clone(), |width| cut(&line, width)));
        shown.push('\n');
        shown
    })
}

/// An event, and how often it happened.
struct Event<'a> {
    level: &'a str,
    operation: &'a str,
    message: &'a str,
    first: Timestamp,
    last: Timestamp,
    times: usize,
}

impl Event<'_> {
    fn is_same(&self, other: &Self) -> bool {
        (self.level, self.operation, self.message) == (other.level, other.operation, other.message)
    }

    fn when(&self, now: Timestamp) -> String {
        let last = age(self.last, now);
        if self.times == 1 {
            return last;
        }
        format!("{last} ({}x in {})", self.times, age(self.first, now))
    }
}

/// The same events of an operation as one, which stands where it happened last.
fn counted<'a>(events: impl Iterator<Item = &'a Value>) -> Vec<Event<'a>> {
    let mut counted: Vec<Event<'a>> = Vec::new();
    for event in events {
        let Ok(at) = text(event, "CreatedAt").parse::<Timestamp>() else { continue };
        let (level, message) = (text(event, "Level"), text(event, "Message"));
        let operation = text(event, "OperationID");
        let mut new = Event { level, operation, message, first: at, last: at, times: 1 };
        if let Some(place) = counted.iter().position(|it| it.is_same(&new)) {
            let old = counted.remove(place);
            new.times += old.times;
            new.first = old.first.min(at);
            new.last = old.last.max(at);
        }
        counted.push(new);
    }
    counted
}

/// What an operation did and how it ended, as far as the runtime tells.
fn operation(runtime: &Value, id: &str) -> String {
    if id.is_empty() {
        return "no operation".to_owned();
    }
    for (sort, field) in SORTS {
        let group = &runtime["status"][field];
        let mut all = group["data"].as_array().into_iter().flatten().chain([group]);
        if let Some(found) = all.find(|it| it["operationID"] == id) {
            return format!("{sort} operation {id}: {}", text(found, "state"));
        }
    }
    format!("operation {id}")
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
