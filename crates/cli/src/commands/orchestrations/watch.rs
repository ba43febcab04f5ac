//! How far an orchestration is, until it ends.

use std::{fmt::Write as _, process::ExitCode, time::Duration};

use base::Clock;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;

use crate::{
    client::Client,
    commands::{
        names::Names,
        watching::{Patience, unless_interrupted},
    },
    output::{self, Format, style},
};

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(1);
/// Goes back to the line above, and clears it.
const UP: &str = "\u{1b}[1A\u{1b}[J";

/// Columns of a line that is not drawn in place, and of one that is when nothing is known of the terminal.
const WIDTH: usize = 80;

/// Shows how far an orchestration is whenever that has changed: in place on a terminal, as documents for programs. Fails when a
/// runtime has failed, and when it was canceled.
pub(crate) async fn watch(client: &Client, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    if format.is_documents() || format.is_quiet() || !style::is_live() {
        return until_the_end(client, id, format, false).await;
    }
    let watched = until_the_end(client, id, format, true);
    unless_interrupted(watched, "orchestration", &format!("orchestrations {id} --watch")).await
}

async fn until_the_end(
    client: &Client,
    id: &str,
    format: Format,
    in_place: bool,
) -> anyhow::Result<ExitCode> {
    let clock = Clock::running();
    let mut patience = Patience::new(&clock, EVERY);
    let (mut last, mut drawn) = (String::new(), String::new());
    loop {
        let progress = client.progress(id).await;
        // What is said about a missing answer stays, and what comes next is drawn below it.
        let Some(progress) = patience.take(progress, || drawn.clear())? else {
            patience.pause().await;
            continue;
        };
        let status = status(&progress);
        if in_place {
            let width = style::width().unwrap_or(WIDTH);
            let line = output::harmless(&line(&progress, clock.now(), width), "");
            // A line that is wrapped could not be replaced.
            let line = output::cut(&line, width);
            if line != drawn {
                let up = if drawn.is_empty() { "" } else { UP };
                output::print_styled(&format!("{up}{line}\n"))?;
                drawn = line;
            }
        } else if status != last {
            // The rate and the expected end change all the time: they make no line of their own.
            if format.is_documents() {
                format.document(&progress)?;
            } else if !format.is_quiet() {
                output::print(&format!("{}\n", line(&progress, clock.now(), WIDTH)))?;
            }
        }
        last = status;
        match progress["state"].as_str() {
            Some("succeeded") => return Ok(ExitCode::SUCCESS),
            Some("failed" | "canceled") => {
                if !format.is_documents() {
                    eprint!("{}", output::harmless(&failures(&progress), "\n"));
                }
                return Ok(ExitCode::FAILURE);
            }
            _ => patience.pause().await,
        }
    }
}

/// One line: the status, and as much of the estimate as fits.
fn line(it: &Value, now: Timestamp, width: usize) -> String {
    let mut line = status(it);
    for part in estimate(it, now).into_iter().flatten() {
        if line.chars().count() + part.chars().count() <= width {
            line.push_str(&part);
        }
    }
    line
}

/// How many runtimes have ended, and how. The canaries are named while they go on.
fn status(it: &Value) -> String {
    let state = it["state"].as_str().unwrap_or_default();
    let mut line = format!("{state}: {} of {} done", it["done"], it["total"]);
    let waves = it["waves"].as_array().map(Vec::as_slice).unwrap_or_default();
    let failed: u64 = waves.iter().filter_map(|wave| wave["states"]["failed"].as_u64()).sum();
    if failed > 0 {
        let _ = write!(line, ", {failed} failed");
    }
    let canaries = waves.iter().find(|wave| wave["wave"] == "canary");
    if let Some(wave) = canaries.filter(|wave| wave["done"] != wave["total"]) {
        let _ = write!(line, ", canaries {} of {}", wave["done"], wave["total"]);
    }
    if let Some(reason) = it["pauseReason"].as_str() {
        let _ = write!(line, ", paused: {reason}");
    }
    line
}

/// The rate and the expected end, while one is expected.
fn estimate(it: &Value, now: Timestamp) -> Option<[String; 2]> {
    let end: Timestamp = it["expectedEnd"].as_str()?.parse().ok()?;
    let rate = it["perHour"].as_f64()?;
    let rate = if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    let date = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
    let format = if date(end) == date(now) { "%H:%MZ" } else { "%b %-d %H:%MZ" };
    Some([format!(", about {rate} an hour"), format!(", ends {}", end.strftime(format))])
}

/// Everything, with what the slowest runtimes are called.
pub(super) fn text(it: &Value, names: &Names) -> String {
    let mut text = status(it) + "\n";
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
        let name = names.name(word("shootName"), "");
        let _ = writeln!(text, "running: {name} since {}", word("startedAt"));
    }
    text
}

/// Failures by reason.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: &str = "2026-01-01T12:00:00.5Z";

    fn progress() -> Value {
        json!({
            "state": "in progress", "total": 100, "done": 9,
            "waves": [
                { "wave": "canary", "total": 10, "done": 9, "states": { "failed": 1, "succeeded": 8 } },
                { "wave": "all", "total": 90, "done": 0, "states": { "pending": 88, "failed": 2 } },
            ],
            "perHour": 12.4, "expectedEnd": "2026-01-01T19:20:03.25Z",
        })
    }

    fn shown(it: &Value) -> String {
        line(it, NOW.parse().unwrap(), WIDTH)
    }

    #[test]
    fn failures_of_both_waves_are_counted_together() {
        let mut progress = progress();
        assert!(status(&progress).contains(" done, 3 failed, "), "{}", status(&progress));

        progress["waves"][0]["states"] = json!({ "succeeded": 9 });
        progress["waves"][1]["states"] = json!({ "pending": 90 });

        assert!(!status(&progress).contains("failed"), "{}", status(&progress));
    }

    #[test]
    fn the_canaries_are_named_until_they_have_ended() {
        let mut progress = progress();
        assert_eq!(status(&progress), "in progress: 9 of 100 done, 3 failed, canaries 9 of 10");

        (progress["waves"][0]["done"], progress["done"]) = (10.into(), 10.into());

        assert_eq!(status(&progress), "in progress: 10 of 100 done, 3 failed");
    }

    #[test]
    fn a_line_tells_the_rate_and_the_expected_end_where_they_fit() {
        let mut progress = progress();
        let begin = "in progress: 9 of 100 done, 3 failed, canaries 9 of 10";
        assert_eq!(shown(&progress), format!("{begin}, about 12 an hour"));

        progress["waves"][0]["states"] = json!({});
        progress["waves"][1]["states"] = json!({});
        let begin = "in progress: 9 of 100 done, canaries 9 of 10";
        assert_eq!(shown(&progress), format!("{begin}, about 12 an hour, ends 19:20Z"));

        progress["waves"][0]["done"] = 10.into();
        (progress["perHour"], progress["expectedEnd"]) =
            (2.0.into(), "2026-01-03T07:00:00Z".into());
        let begin = "in progress: 9 of 100 done";
        assert_eq!(shown(&progress), format!("{begin}, about 2.0 an hour, ends Jan 3 07:00Z"));

        (progress["total"], progress["done"]) = (5_000.into(), 1_000.into());
        progress["waves"][1]["states"]["failed"] = 12.into();
        progress["perHour"] = 120.into();
        let fits = shown(&progress);
        assert!(fits.ends_with(", about 120 an hour, ends Jan 3 07:00Z"), "{fits}");
        assert!(fits.chars().count() <= WIDTH, "{fits}");
    }

    #[test]
    fn what_is_paused_says_why_and_expects_no_end() {
        let mut progress = progress();
        progress["pauseReason"] = "1 of 10 canaries failed".into();
        progress["expectedEnd"] = Value::Null;

        assert_eq!(shown(&progress), status(&progress));
        assert!(shown(&progress).ends_with(", paused: 1 of 10 canaries failed"));
    }
}
