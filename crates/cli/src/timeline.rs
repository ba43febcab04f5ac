//! The timeline of an operation: stages above their steps, equal tries as one line with a count.
//!
//! What a reader would get wrong: the journal has counted equal waits already, but it keeps every failed try.
//! Those that failed alike, one after the other, are one line here.

use std::fmt::Write;

use jiff::Timestamp;

use crate::{
    output::{duration, harmless, span, style},
    view::Entry,
};

/// After these, the same step runs again.
const AGAIN: [&str; 2] = ["wait", "transient"];

/// Equal entries, one after the other.
struct Row<'a> {
    first: &'a Entry,
    last: &'a Entry,
    tries: i64,
    /// When the same step went on.
    until: Option<Timestamp>,
}

/// Prints entries; remembers under which stage.
pub(crate) struct Timeline {
    /// Times count from here.
    since: Timestamp,
    stage: Option<String>,
    /// Whether results have signs and colours, and waits are shown elsewhere.
    live: bool,
}

impl Timeline {
    /// Begins with an operation that was accepted at this time.
    pub(crate) fn since(accepted_at: Timestamp) -> Self {
        Self { since: accepted_at, stage: None, live: false }
    }

    /// For a terminal on which the present wait is shown below.
    pub(crate) fn live(self) -> Self {
        Self { live: true, ..self }
    }

    /// The next entries, each with its stage above it where that is another one.
    pub(crate) fn next(&mut self, entries: &[Entry]) -> String {
        let mut text = String::new();
        let shown = |row: &Row<'_>| !(self.live && row.last.what() == "wait");
        for row in rows(entries).into_iter().filter(shown).collect::<Vec<_>>() {
            if let Some(stage) = &row.first.stage
                && self.stage.as_ref() != Some(stage)
            {
                // A stage of one step may have the step's name; it is said once.
                if row.first.step.as_ref() != Some(stage) {
                    let _ = writeln!(text, "{}", harmless(stage, ""));
                }
                self.stage = Some(stage.clone());
            }
            self.write(&mut text, &row);
        }
        text
    }

    fn write(&self, text: &mut String, row: &Row<'_>) {
        let at = format!("+{}", span(row.first.began_at.duration_since(self.since)));
        let step = row.first.step.as_deref();
        let Some(step) = step.filter(|_| row.first.stage.is_some()) else {
            let why = harmless(&reason(row.last, ": "), "");
            let _ = writeln!(text, "  {at:<9} {}{why}", harmless(event(row.first), ""));
            return;
        };
        // How long a wait takes is known when it is over.
        let took = match row.until {
            Some(until) => duration(row.first.began_at, until),
            None if row.last.what() == "wait" => String::new(),
            None => duration(row.first.began_at, row.last.ended_at),
        };
        let tries = if row.tries > 1 { format!("  {} tries", row.tries) } else { String::new() };
        let result = result(row.last.what());
        let sign = if self.live { style::state(sign(row.last.what())) } else { " ".to_owned() };
        let step = harmless(step, "");
        let line = format!("{sign} {at:<9} {step:<33} {result:<15} {took:>9}{tries}");
        let _ = writeln!(text, "{}", line.trim_end());
        let why = harmless(&reason(row.last, ""), "");
        if !why.is_empty() {
            let _ = writeln!(text, "  {:<9} {why}{}", "", self.next_try(row));
        }
    }

    /// When it is tried again, unless it was.
    fn next_try(&self, row: &Row<'_>) -> String {
        let next = row.last.next_at.filter(|_| row.until.is_none());
        let next = next.map(|next| span(next.duration_since(self.since)));
        next.map(|next| format!("; next try at +{next}")).unwrap_or_default()
    }
}

fn rows(entries: &[Entry]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for entry in entries {
        match rows.last_mut() {
            Some(row) if is_equal(row.last, entry) => {
                row.last = entry;
                row.tries += entry.times;
            }
            before => {
                if let Some(row) = before
                    && row.last.step == entry.step
                    && AGAIN.contains(&row.last.what())
                {
                    row.until = Some(entry.began_at);
                }
                rows.push(Row { first: entry, last: entry, tries: entry.times, until: None });
            }
        }
    }
    rows
}

/// Whether the second is the first once more.
fn is_equal(one: &Entry, other: &Entry) -> bool {
    AGAIN.contains(&other.what())
        && (&one.stage, &one.step, one.what()) == (&other.stage, &other.step, other.what())
        && one.why() == other.why()
}

fn reason(entry: &Entry, before: &str) -> String {
    let why = entry.why();
    if why.is_empty() { why } else { format!("{before}{why}") }
}

/// The event of an entry that is no run.
fn event(entry: &Entry) -> &str {
    match entry.what() {
        "taken" => "taken by a replica",
        "cancel_requested" => "asked to end",
        other => other,
    }
}

/// How a run ended, as a sign.
fn sign(outcome: &str) -> &'static str {
    match outcome {
        "done" | "finish" => "✓",
        "transient" | "fatal" | "panic" | "given_up" => "✗",
        _ => "·",
    }
}

/// How a run ended, for people.
fn result(outcome: &str) -> &str {
    match outcome {
        "wait" => "waits",
        "transient" => "failed",
        "again" => "starts over",
        "finish" => "finishes",
        "fatal" => "failed for good",
        "panic" => "panicked",
        "given_up" => "given up",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn entry(seq: i64, seconds: i64, more: &Value) -> Entry {
        let at = |seconds: i64| format!("2026-01-01T12:00:{seconds:02}Z");
        let mut entry = json!({
            "seq": seq, "event": "run", "times": 1, "began_at": at(seconds), "ended_at": at(seconds + 1),
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(entry).unwrap()
    }

    #[test]
    fn equal_tries_are_one_line_under_their_stage() {
        let run = |step: &str, outcome: &str, why: Option<&str>| {
            let failure =
                why.map(|why| json!({"component": "edp", "reason": "unavailable", "message": why}));
            json!({"stage": "work", "step": step, "outcome": outcome, "failure": failure})
        };
        let entries = [
            entry(1, 0, &json!({"event": "accepted"})),
            entry(2, 1, &run("Begin", "done", None)),
            entry(3, 2, &run("Register", "transient", Some("down"))),
            entry(4, 5, &run("Register", "transient", Some("down"))),
            entry(5, 9, &run("Register", "transient", Some("odd"))),
            entry(6, 12, &run("Register", "done", None)),
        ];
        let mut timeline = Timeline::since(entries[0].began_at);

        let first = timeline.next(&entries[..4]);
        let rest = timeline.next(&entries[4..]);

        let text = format!("{first}{rest}");
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "+0 ms accepted",
                "work",
                "+1.0 s Begin done 1.0 s",
                "+2.0 s Register failed 4.0 s 2 tries",
                "down (edp: unavailable)",
                "+9.0 s Register failed 3.0 s",
                "odd (edp: unavailable)",
                "+12.0 s Register done 1.0 s",
            ]
        );
    }
}
