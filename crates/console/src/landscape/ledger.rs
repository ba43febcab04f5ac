//! The calls that simulated systems got, newest first: one line for each call.

use maud::{Markup, html};
use serde_json::Value;

use super::text;
use crate::marks::{Tone, pill};

/// How many calls are shown.
const SHOWN: usize = 30;

pub(super) fn card(lines: &[Value]) -> Markup {
    let answered = |line: &&Value| ["replied", "lost"].contains(&text(&line["phase"]));
    let calls: Vec<&Value> = lines.iter().rev().filter(answered).take(SHOWN).collect();
    html! {
        section.card aria-labelledby="ledger" {
            header { h2 #ledger { "Calls going by" } span { "the newest " (calls.len()) " of the ledger" } }
            @if calls.is_empty() {
                p.hint { "Nobody has called yet. Order a runtime and watch." }
            } @else {
                table {
                    thead { tr { th { "At" } th { "System" } th.wide { "Call" } th.wide { "From step" } th { "Answer" } } }
                    tbody { @for line in calls { tr id={ "call-" (line["sequence"]) } {
                        td.tight.small.faint { (time(text(&line["at"]))) }
                        td { (text(&line["system"])) }
                        td.wide { span.why.mono.small { (text(&line["method"])) " " (text(&line["route"])) } }
                        td.wide { (step(line)) }
                        td { (answer(line)) }
                    } } }
                }
            }
        }
    }
}

fn time(at: &str) -> &str {
    at.get(11..19).unwrap_or(at)
}

fn step(line: &Value) -> Markup {
    let (step, operation) = (text(&line["step"]), text(&line["operation"]));
    html! {
        @if step.is_empty() { span.faint { "–" } } @else if operation.is_empty() { code { (step) } } @else {
            code title={ "operation " (operation) } { (step) }
        }
    }
}

fn answer(line: &Value) -> Markup {
    let trouble = text(&line["trouble"]);
    let status = line["status"].as_u64();
    let word = status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let tone = match status {
        Some(200..=399) if trouble.is_empty() => Tone::Good,
        Some(400..=499) if trouble.is_empty() => Tone::Slow,
        _ => Tone::Bad,
    };
    html! { (pill(tone, &word)) @if !trouble.is_empty() { " " span.small.bad { (trouble) } } }
}
