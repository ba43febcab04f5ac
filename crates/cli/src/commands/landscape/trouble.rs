//! Making trouble, and ending it.

use clap::{ArgGroup, Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{cells, items};
use crate::{
    client::Client,
    hint,
    output::{Format, Head, Layout},
};

/// List, make or end trouble.
#[derive(Args)]
pub(super) struct Trouble {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List trouble that has not ended.
    List,
    Make(Box<Make>),
    /// End one trouble, or all.
    End {
        /// The number of the trouble; all without it.
        id: Option<u64>,
    },
}

/// What can happen to calls, as the landscape names it.
const KINDS: [&str; 17] = [
    "slow",
    "uneven",
    "silent",
    "down",
    "busy",
    "status",
    "reset",
    "lost-answer",
    "malformed",
    "mistyped",
    "truncated",
    "duplicate",
    "phantom",
    "partial",
    "stale-read",
    "token-expire",
    "unguarded",
];

/// Make a system misbehave for a number of calls or seconds.
#[derive(Args)]
#[command(group(ArgGroup::new("limit").args(["calls", "seconds", "nth"]).required(true).multiple(true)))]
struct Make {
    /// The system, as `kcp landscape systems` lists them.
    system: String,
    /// What happens to the calls.
    #[arg(value_parser = KINDS)]
    kind: String,
    /// The number of calls that are affected.
    #[arg(long, value_name = "N")]
    calls: Option<u64>,
    /// The first call that is affected, counted from 1; only that one unless --calls is given.
    #[arg(long, value_name = "N")]
    nth: Option<u64>,
    /// How many seconds the trouble lasts.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// How many seconds from now the trouble begins.
    #[arg(long, value_name = "N")]
    after_seconds: Option<u64>,
    /// Turn the trouble on and off, for so many milliseconds each.
    #[arg(long, value_name = "N")]
    flap_ms: Option<u64>,
    /// The probability that a call is affected, from 0 to 1.
    #[arg(long, value_name = "P")]
    probability: Option<f64>,
    /// Only calls with this method.
    #[arg(long)]
    method: Option<String>,
    /// Only calls whose path begins like this; `*` stands for anything, `$` for the end.
    #[arg(long)]
    path: Option<String>,
    /// Only calls with this text in their body.
    #[arg(long)]
    body: Option<String>,
    /// A parameter of the trouble, for example `delay_ms=5000` or `status=502`.
    #[arg(long = "with", value_name = "NAME=VALUE", value_parser = pair)]
    with: Vec<(String, Value)>,
}

fn pair(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("not NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.into(), value))
}

impl Trouble {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        match self.command.unwrap_or(Command::List) {
            Command::List => list(client, format).await,
            Command::Make(make) => {
                let body = make.body();
                let path = "/troubles";
                let made = client.change("making trouble", Method::POST, path, Some(&body)).await?;
                format.show(&made, &super::shown(&made["id"]), || trouble_text(&made))
            }
            Command::End { id } => {
                let path = id.map_or("/troubles".into(), |id| format!("/troubles/{id}"));
                client.change("ending trouble", Method::DELETE, &path, None).await?;
                let which = id.map_or("all trouble".into(), |id| format!("trouble {id}"));
                let name = id.map(|id| id.to_string()).unwrap_or_default();
                format.show(&json!({ "ended": id }), &name, || format!("{which} has ended\n"))
            }
        }
    }
}

impl Make {
    fn body(self) -> Value {
        let mut trouble: Map<String, Value> = self.with.into_iter().collect();
        trouble.insert("kind".into(), self.kind.into());
        json!({
            "system": self.system, "calls": self.calls, "seconds": self.seconds,
            "after_seconds": self.after_seconds, "flap_ms": self.flap_ms, "nth": self.nth,
            "probability": self.probability, "method": self.method, "path": self.path,
            "body": self.body, "trouble": trouble,
        })
    }
}

/// A text about created trouble: the system, the kind, the end, and how to end it.
fn trouble_text(made: &Value) -> String {
    let word = |field: &str| made.pointer(field).map(super::shown).unwrap_or_default();
    let (id, system, kind) = (word("/id"), word("/system"), word("/trouble/kind"));
    let system = if system.is_empty() { "every system".to_owned() } else { system };
    let mut how_long = Vec::new();
    for (field, before, after) in
        [("/from", "from ", ""), ("/until", "until ", ""), ("/calls", "for ", " calls")]
    {
        let value = word(field);
        if !value.is_empty() {
            how_long.push(format!("{before}{value}{after}"));
        }
    }
    let how_long = how_long.join(", ");
    let kcp = hint::kcp();
    format!("trouble {id}: {system}: {kind} {how_long}\nend it: {kcp} landscape trouble end {id}\n")
}

async fn list(client: &Client, format: Format) -> anyhow::Result<()> {
    let answer = client.look("listing trouble", "/troubles", &[]).await?;
    let head = [
        Head::Fixed("ID"),
        Head::Fixed("SYSTEM"),
        Head::Wide("METHOD"),
        Head::Wide("PATH"),
        Head::Wide("BODY"),
        Head::Wide("PROBABILITY"),
        Head::Wide("NTH"),
        Head::Fixed("CALLS"),
        Head::Wide("FROM"),
        Head::Fixed("UNTIL"),
        Head::Wide("FLAP"),
        Head::Text("TROUBLE"),
    ];
    let fields = [
        "/id",
        "/system",
        "/method",
        "/path",
        "/body",
        "/probability",
        "/nth",
        "/calls",
        "/from",
        "/until",
        "/flap_ms",
        "/trouble",
    ];
    let layout = Layout { head: &head, name: "/id", empty: "no system is in trouble" };
    format.list(&answer, items(&answer["troubles"]), &layout, cells(&fields))
}
