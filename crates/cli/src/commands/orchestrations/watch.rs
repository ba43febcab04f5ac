//! How far an orchestration is, until it ends.

use std::{fmt::Write as _, process::ExitCode, time::Duration};

use base::Clock;
use serde_json::Value;

use crate::{
    client::Client,
    output::{self, Format, style},
};

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(1);
/// Goes back to the line above, and clears it.
const UP: &str = "\u{1b}[1A\u{1b}[J";

/// Shows how far an orchestration is whenever that has changed: in place on a terminal, as lines of JSON for programs. Fails
/// when a runtime has failed.
pub(crate) async fn watch(client: &Client, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let (mut last, live) = (String::new(), style::is_live());
    loop {
        let progress = client.orchestration(id, "/progress").await?;
        let now = line(&progress);
        if now != last {
            if format == Format::Json {
                output::json_line(&progress)?;
            } else {
                let up = if live && !last.is_empty() { UP } else { "" };
                output::print_styled(&format!("{up}{}", output::harmless(&now, "\n")))?;
            }
            last = now;
        }
        match progress["state"].as_str() {
            Some("succeeded" | "canceled") => return Ok(ExitCode::SUCCESS),
            Some("failed") => {
                if format != Format::Json {
                    eprint!("{}", output::harmless(&failures(&progress), "\n"));
                }
                return Ok(ExitCode::FAILURE);
            }
            _ => clock.sleep(EVERY).await,
        }
    }
}

/// One line.
fn line(it: &Value) -> String {
    let state = it["state"].as_str().unwrap_or_default();
    let mut line = format!("{state}: {} of {} done", it["done"], it["total"]);
    for wave in it["waves"].as_array().into_iter().flatten() {
        if let Some(failed) = wave["states"]["failed"].as_u64() {
            let _ = write!(line, ", {failed} failed");
        }
    }
    if let Some(reason) = it["pauseReason"].as_str() {
        let _ = write!(line, ", paused: {reason}");
    }
    line + "\n"
}

/// Everything.
pub(super) fn text(it: &Value) -> String {
    let mut text = line(it);
    for wave in it["waves"].as_array().into_iter().flatten() {
        let name = wave["wave"].as_str().unwrap_or_default();
        let _ = writeln!(text, "  {name}: {} of {}", wave["done"], wave["total"]);
    }
    if let Some(rate) = it["perHour"].as_f64() {
        let _ = writeln!(text, "rate: {rate:.1} per hour");
    }
    if let Some(end) = it["expectedEnd"].as_str() {
        let _ = writeln!(text, "expected end: {end}");
    }
    text.push_str(&failures(it));
    for slow in it["slowest"].as_array().into_iter().flatten() {
        let word = |key: &str| slow[key].as_str().unwrap_or_default();
        let _ = writeln!(text, "running: {} since {}", word("shootName"), word("startedAt"));
    }
    text
}

/// What failed, by reason.
fn failures(it: &Value) -> String {
    let mut text = String::new();
    for group in it["failures"].as_array().into_iter().flatten() {
        let word = |key: &str| group[key].as_str().unwrap_or_default();
        let _ = writeln!(
            text,
            "failed: {} × {} {}: {}",
            group["count"],
            word("component"),
            word("reason"),
            word("message")
        );
    }
    text
}
