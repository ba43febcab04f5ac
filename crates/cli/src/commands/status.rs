//! `kcp status`: what works, what waits and why, what is stuck, what failed, the pool of accounts, the next jobs, the replicas; on one
//! screen of 80 columns. Below it, how steps went and how operations ended.
//!
//! What a reader would get wrong: without a terminal, and with `-o wide`, nothing is cut.

mod steps;
mod success;

use std::{fmt::Write as _, path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::names::Names;
use crate::{
    client::Client,
    hint,
    output::{self, Format, Layout, relative, span, style},
};

/// Before it stand the names of the parts.
const MARGIN: usize = 11;
/// How many lines a part has at most, so that all of them fit on one screen.
const LINES: usize = 4;
/// How many stuck operations are shown, with two lines each.
const SHOWN_STUCK: usize = 2;

/// Show what runs, waits, is stuck or has failed, and what is left of the pool of accounts.
#[derive(Args)]
pub(crate) struct Status {
    #[command(subcommand)]
    command: Option<Command>,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…]; the status has operations that are stuck as names.
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, global = true)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    Steps(steps::Steps),
    Success(success::Success),
}

impl Status {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        match self.command {
            None => show(&Client::connect(data)?, self.output).await?,
            Some(Command::Steps(steps)) => steps.run(data, self.output).await?,
            Some(Command::Success(success)) => success.run(data, self.output).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn show(client: &Client, format: Format) -> anyhow::Result<()> {
    let status = &client.status().await?;
    if format == Format::Name {
        let stuck = status["stuck"].as_array().map(Vec::as_slice).unwrap_or_default();
        let layout = Layout { head: &[], name: "/operation", empty: "" };
        return format.list(status, stuck, &layout, |_| Vec::new());
    }
    let screen = Screen {
        names: Names::of(client, &shown(status), "instance", format).await,
        now: base::Clock::running().now(),
        width: if format == Format::Wide { None } else { style::width() },
    };
    format.show(status, "", || screen.text(status))
}

/// The operations that are shown.
fn shown(status: &Value) -> Vec<Value> {
    let stuck = list(&status["stuck"]).take(SHOWN_STUCK);
    stuck.chain(list(&status["failed"]).take(LINES)).cloned().collect()
}

/// What the screen needs besides the status.
struct Screen {
    names: Names,
    now: Timestamp,
    /// How wide a line is at most, if that is limited.
    width: Option<usize>,
}

impl Screen {
    /// Everything on one screen.
    fn text(&self, status: &Value) -> String {
        let mut text = String::new();
        for (name, lines) in self.parts(status) {
            for (number, line) in lines.into_iter().enumerate() {
                let name = if number == 0 { name } else { "" };
                let line: String = format!("{name:<MARGIN$}{}", output::harmless(&line, ""));
                let line = line.trim_end();
                let line = self.width.map_or_else(|| line.to_owned(), |it| output::cut(line, it));
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }

    fn parts(&self, status: &Value) -> [(&'static str, Vec<String>); 6] {
        let now = self.now;
        [
            ("Working", self.working(status)),
            ("Stuck", self.stuck(status)),
            ("Failed", self.failed(status)),
            ("Pool", pool(status)),
            ("Next jobs", jobs(status, now)),
            ("Replicas", replicas(status, now)),
        ]
    }

    fn working(&self, status: &Value) -> Vec<String> {
        let standing = &status["standing"];
        let words = ["running", "waiting", "failing", "queued", "due"];
        let counts = words.map(|word| format!("{} {word}", number(&standing[word])));
        let groups: Vec<Vec<String>> = list(&status["waits"])
            .map(|group| {
                let since = time(&group["since"]).map(|since| span(self.now.duration_since(since)));
                let what = format!(
                    "  {:>4} {} {} {} for {}",
                    number(&group["operations"]),
                    text(&group["kind"]),
                    text(&group["step"]),
                    text(&group["standing"]),
                    since.unwrap_or_default(),
                );
                self.folded(what, text(&group["reason"]))
            })
            .collect();
        let mut lines = vec![counts.join(", ")];
        lines.extend(first(groups));
        lines
    }

    fn stuck(&self, status: &Value) -> Vec<String> {
        let count = number(&status["stuck_operations"]);
        if count == 0 {
            return vec!["none".into()];
        }
        let mut lines = vec![format!("{count}; see one: {} operations ID", hint::kcp())];
        for it in list(&status["stuck"]).take(SHOWN_STUCK) {
            let usual = it["usual_seconds"].as_i64();
            let usual = usual.map(|usual| format!(", usually {}", seconds(usual)));
            let name = self.names.get(text(&it["instance"])).unwrap_or_default();
            lines.push(format!("  {} {name}", text(&it["operation"])));
            let what = format!(
                "    {} {} for {}{}",
                text(&it["kind"]),
                text(&it["step"]),
                seconds(number(&it["present_seconds"])),
                usual.unwrap_or_default(),
            );
            lines.extend(self.folded(what, text(&it["reason"])));
        }
        lines.extend(more(usize::try_from(count).unwrap_or_default(), SHOWN_STUCK));
        lines
    }

    fn failed(&self, status: &Value) -> Vec<String> {
        let count = number(&status["failed_operations"]);
        if count == 0 {
            return vec!["none in the last day".into()];
        }
        let found: Vec<Vec<String>> = list(&status["failed"])
            .map(|it| {
                let ago = time(&it["ended_at"]).map(|at| relative(at, self.now));
                let name = self.names.name(text(&it["instance"]), "");
                let what = format!("  {} {name} {}", text(&it["kind"]), ago.unwrap_or_default());
                self.folded(what, text(&it["reason"]))
            })
            .collect();
        let mut lines = vec![format!("{count} in the last day")];
        lines.extend(first(found));
        lines
    }

    /// What stands there and its reason: on one line, or the reason below it where they do not fit.
    fn folded(&self, what: String, reason: &str) -> Vec<String> {
        let line = format!("{what}: {reason}");
        if self.width.is_none_or(|width| MARGIN + line.chars().count() <= width) {
            return vec![line];
        }
        let indent = what.chars().take_while(|c| *c == ' ').count() + 2;
        vec![what + ":", format!("{}{reason}", " ".repeat(indent))]
    }
}

fn pool(status: &Value) -> Vec<String> {
    if let Some(problem) = status["capacity_problem"].as_str() {
        return vec![problem.to_owned()];
    }
    let mut lines: Vec<String> =
        list(&status["capacity"]).map(|it| text(&it["text"]).to_owned()).collect();
    if lines.is_empty() {
        lines.push("no accounts".into());
    }
    lines
}

fn jobs(status: &Value, now: Timestamp) -> Vec<String> {
    let jobs: Vec<String> = list(&status["jobs"])
        .map(|job| {
            let when = time(&job["next_run_at"]).map(|at| relative(at, now));
            format!("{} {}", text(&job["name"]), when.unwrap_or_else(|| "runs".into()))
        })
        .collect();
    vec![if jobs.is_empty() { "none".into() } else { jobs.join(", ") }]
}

fn replicas(status: &Value, now: Timestamp) -> Vec<String> {
    let replicas: Vec<String> = list(&status["replicas"])
        .map(|it| {
            let since = time(&it["joined_at"]).map(|at| span(now.duration_since(at)));
            format!("{} (for {})", text(&it["name"]), since.unwrap_or_default())
        })
        .collect();
    let names =
        if replicas.is_empty() { String::new() } else { format!(": {}", replicas.join(", ")) };
    vec![format!("{} alive{names}", replicas.len())]
}

/// The first things, in a few lines, and how many there are besides.
fn first(things: Vec<Vec<String>>) -> Vec<String> {
    let all = things.len();
    let mut lines: Vec<String> = Vec::new();
    let mut shown = 0;
    for thing in things {
        if lines.len() + thing.len() > LINES {
            break;
        }
        lines.extend(thing);
        shown += 1;
    }
    lines.into_iter().chain(more(all, shown)).collect()
}

fn more(all: usize, shown: usize) -> Option<String> {
    let more = all.saturating_sub(shown);
    (more > 0).then(|| format!("  and {more} more; all: {} status --output json", hint::kcp()))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

fn seconds(seconds: i64) -> String {
    span(SignedDuration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_fits_on_one_screen_of_80_columns() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let id = "018f0000-0000-7000-8000-000000000001";
        let wait = json!({
            "kind": "provision", "step": "Check_Runtime", "standing": "waiting", "operations": 12,
            "since": "2026-01-01T11:50:00Z", "reason": "the cluster is being made ".repeat(9),
        });
        let stuck = json!({
            "operation": id, "instance": id, "kind": "provision", "step": "Check_Runtime", "present_seconds": 3600,
            "usual_seconds": 300, "reason": "being made",
        });
        let failed = json!({
            "kind": "update", "instance": id, "ended_at": "2026-01-01T11:00:00Z", "reason": "avs: \u{1b}[2J down",
        });
        let status = json!({
            "standing": {"running": 2, "waiting": 12, "failing": 0, "queued": 1, "due": 0},
            "waits": vec![wait; 20], "stuck_operations": 30, "stuck": vec![stuck; 30],
            "failed_operations": 1, "failed": [failed],
            "capacity": [{"text": "aws: 12 free, about 3 days at the present rate"}],
            "jobs": [{"name": "expiry", "next_run_at": "2026-01-01T12:10:00Z"}, {"name": "drift"}],
            "replicas": [{"name": "kcp-0", "joined_at": "2026-01-01T10:00:00Z"}],
        });

        let names = Names::with(id, "payments");
        let mut screen = Screen { names, now, width: Some(80) };
        let shown = screen.text(&status);

        assert!(shown.lines().count() <= 24, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        for part in [
            "Working    2 running, 12 waiting, 0 failing, 1 queued, 0 due\n",
            "               12 provision Check_Runtime waiting for 10m:\n                 the cluster is being made the",
            "Stuck      30; see one: kcp operations ID\n",
            "             018f0000-0000-7000-8000-000000000001 payments\n",
            "               provision Check_Runtime for 1h, usually 5m: being made\n",
            "             and 28 more; all: kcp status --output json\n",
            "Failed     1 in the last day\n             update payments 1h ago: avs: ",
            "Pool       aws: 12 free, about 3 days at the present rate\n",
            "Next jobs  expiry in 10m, drift runs\n",
            "Replicas   1 alive: kcp-0 (for 2h)\n",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        assert!(!shown.contains('\u{1b}'));

        screen.width = Some(140);
        let wider = screen.text(&status);
        assert!(wider.lines().any(|line| line.chars().count() == 140), "{wider}");
        screen.width = None;
        let reason = "the cluster is being made ".repeat(9);
        let line = format!("12 provision Check_Runtime waiting for 10m: {}\n", reason.trim_end());
        let whole = screen.text(&status);
        assert!(whole.contains(&line), "{whole}");
    }

    #[test]
    fn nothing_to_tell_is_said_in_a_few_lines() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();

        let screen = Screen { names: Names::none(), now, width: Some(80) };
        let shown = screen.text(&json!({"capacity_problem": "gardener: unavailable"}));

        assert_eq!(
            shown,
            "Working    0 running, 0 waiting, 0 failing, 0 queued, 0 due\n\
             Stuck      none\nFailed     none in the last day\nPool       gardener: unavailable\n\
             Next jobs  none\nReplicas   0 alive\n"
        );
    }
}
