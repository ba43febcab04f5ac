//! `kcp status`: what works, what waits and why, what is stuck, what failed, the pool of accounts, the next jobs, the replicas; on one
//! screen of 80 columns. Below it, how steps went and how operations ended.

mod steps;
mod success;

use std::{fmt::Write as _, path::Path, process::ExitCode};

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    client::Client,
    output::{self, Format, Layout, relative, span},
};

/// How wide a line is at most.
const WIDTH: usize = 80;
/// How many lines a part has at most, so that all of them fit on one screen.
const LINES: usize = 4;
/// How many stuck operations are shown, with two lines each.
const SHOWN_STUCK: usize = 2;

/// Show what works, what waits and why, what is stuck, what failed, and what is left of the pool of accounts.
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
            None => show(&Client::connect(data)?.status().await?, self.output)?,
            Some(Command::Steps(steps)) => steps.run(data, self.output).await?,
            Some(Command::Success(success)) => success.run(data, self.output).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(status: &Value, format: Format) -> anyhow::Result<()> {
    if format == Format::Name {
        let stuck = status["stuck"].as_array().map(Vec::as_slice).unwrap_or_default();
        let layout = Layout { head: &[], name: "/operation", empty: "" };
        return format.list(status, stuck, &layout, |_| Vec::new());
    }
    format.show(status, "", || screen(status, base::Clock::running().now()))
}

/// Everything on one screen.
fn screen(status: &Value, now: Timestamp) -> String {
    let mut text = String::new();
    let parts: [(&str, Vec<String>); 6] = [
        ("Working", working(status, now)),
        ("Stuck", stuck(status)),
        ("Failed", failed(status, now)),
        ("Pool", pool(status)),
        ("Next jobs", jobs(status, now)),
        ("Replicas", replicas(status, now)),
    ];
    for (name, lines) in parts {
        for (number, line) in lines.into_iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            let line: String = format!("{name:<11}{}", output::harmless(&line, ""));
            let _ = writeln!(text, "{}", cut(&line));
        }
    }
    text
}

fn working(status: &Value, now: Timestamp) -> Vec<String> {
    let standing = &status["standing"];
    let words = ["running", "waiting", "failing", "queued", "due"];
    let counts = words.map(|word| format!("{} {word}", number(&standing[word])));
    let groups: Vec<String> = list(&status["waits"])
        .map(|group| {
            let since = time(&group["since"]).map(|since| span(now.duration_since(since)));
            format!(
                "{:>4} {} {} {} for {}: {}",
                number(&group["operations"]),
                text(&group["kind"]),
                text(&group["step"]),
                text(&group["standing"]),
                since.unwrap_or_default(),
                text(&group["reason"]),
            )
        })
        .collect();
    let mut lines = vec![counts.join(", ")];
    lines.extend(first(groups));
    lines
}

fn stuck(status: &Value) -> Vec<String> {
    let count = number(&status["stuck_operations"]);
    if count == 0 {
        return vec!["none".into()];
    }
    let mut lines = vec![format!("{count}; see one: kcp operations ID")];
    for it in list(&status["stuck"]).take(SHOWN_STUCK) {
        let usual = it["usual_seconds"].as_i64();
        let usual = usual.map(|usual| format!(", usually {}", seconds(usual)));
        lines.push(format!("  {}", text(&it["operation"])));
        lines.push(format!(
            "    {} {} for {}{}: {}",
            text(&it["kind"]),
            text(&it["step"]),
            seconds(number(&it["present_seconds"])),
            usual.unwrap_or_default(),
            text(&it["reason"]),
        ));
    }
    lines.extend(more(usize::try_from(count).unwrap_or_default(), SHOWN_STUCK));
    lines
}

fn failed(status: &Value, now: Timestamp) -> Vec<String> {
    let count = number(&status["failed_operations"]);
    if count == 0 {
        return vec!["none in the last day".into()];
    }
    let found: Vec<String> = list(&status["failed"])
        .map(|it| {
            let ago = time(&it["ended_at"]).map(|at| relative(at, now)).unwrap_or_default();
            format!(
                "{} {} {ago}: {}",
                text(&it["kind"]),
                text(&it["instance"]),
                text(&it["reason"])
            )
        })
        .collect();
    let mut lines = vec![format!("{count} in the last day")];
    lines.extend(first(found));
    lines
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

/// The first lines, and how many there are besides.
fn first(mut lines: Vec<String>) -> Vec<String> {
    let all = lines.len();
    lines.truncate(LINES);
    lines.iter().map(|line| format!("  {line}")).chain(more(all, LINES)).collect()
}

fn more(all: usize, shown: usize) -> Option<String> {
    let more = all.saturating_sub(shown);
    (more > 0).then(|| format!("  and {more} more; all: kcp status --output json"))
}

fn cut(line: &str) -> String {
    let line = line.trim_end();
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
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
            "operation": id, "kind": "provision", "step": "Check_Runtime", "present_seconds": 3600,
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

        let shown = screen(&status, now);

        assert!(shown.lines().count() <= 24, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        for part in [
            "Working    2 running, 12 waiting, 0 failing, 1 queued, 0 due\n",
            "               12 provision Check_Runtime waiting for 10m",
            "Stuck      30; see one: kcp operations ID\n",
            "             018f0000-0000-7000-8000-000000000001\n",
            "               provision Check_Runtime for 1h, usually 5m: being made\n",
            "             and 28 more; all: kcp status --output json\n",
            "Failed     1 in the last day\n",
            "Pool       aws: 12 free, about 3 days at the present rate\n",
            "Next jobs  expiry in 10m, drift runs\n",
            "Replicas   1 alive: kcp-0 (for 2h)\n",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        assert!(!shown.contains('\u{1b}'));
    }

    #[test]
    fn nothing_to_tell_is_said_in_a_few_lines() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();

        let shown = screen(&json!({"capacity_problem": "gardener: unavailable"}), now);

        assert_eq!(
            shown,
            "Working    0 running, 0 waiting, 0 failing, 0 queued, 0 due\n\
             Stuck      none\nFailed     none in the last day\nPool       gardener: unavailable\n\
             Next jobs  none\nReplicas   0 alive\n"
        );
    }
}
