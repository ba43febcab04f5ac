//! The first card of an operation: what it does, why it waits, when it looks again, what happens at the limit.

use broker::operations::view::{Explanation, Snapshot, Standstill, State};
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use super::timeline::Timeline;
use crate::{
    marks::{Tone, standing},
    usual::Usual,
    words::{exact, since, span, until},
};

pub(super) fn card(
    operation: &Snapshot,
    waiting: &Explanation,
    timeline: &Timeline,
    usual: &Usual,
    now: Timestamp,
) -> Markup {
    let (tone, _) = standing(operation);
    let (over, all) = timeline.progress();
    // How long it fails has no usual time.
    let waits = waiting.kind == Standstill::Waiting;
    let own = waiting.step.as_deref().filter(|_| waits).and_then(|step| usual.of_step(step));
    let percent = if operation.state == State::Succeeded { 100 } else { over * 100 / all.max(1) };
    html! {
        section.card.now.(tone.class()) aria-labelledby="now" {
            div {
                h2.small.faint #now { (place(waiting)) }
                strong { (sentence(operation, waiting)) }
                @if let (Some(failure), false) = (&operation.failure, operation.state == State::Succeeded) {
                    p.error { (failure) }
                }
                @if let Some(cancel) = &operation.cancel { p.soft { "Asked to end: " (cancel.reason) } }
                svg.gauge height="6" role="progressbar" aria-label="Steps that are over" aria-valuemin="0" aria-valuemax="100" aria-valuenow=(percent) {
                    rect width={ (percent) "%" } height="6" rx="3" {}
                }
            }
            dl {
                @if let Some(ended_at) = operation.ended_at {
                    div { dt { "Took" } dd { (span(ended_at.duration_since(operation.created_at))) } }
                    div { dt { "Ended" } dd { (exact(ended_at)) } }
                } @else {
                    div { dt { "Elapsed" } dd { (since(operation.created_at, now)) (usually(usual.whole)) } }
                    @if let Some(at) = waiting.since { div { dt { (so(waiting.kind)) } dd { (since(at, now)) (usually(own)) } } }
                    @if let Some(at) = waiting.next_try {
                        div { dt { "Looks again" } dd { (until(at, now)) @if tone == Tone::Slow { small { "or when something changes" } } } }
                    }
                    @if let (Some(at), Some(then)) = (waiting.limit_at, &waiting.at_limit) {
                        div { dt { "Limit" } dd { (until(at, now)) small { "then " (then) } } }
                    }
                }
            }
        }
    }
}

fn usually(time: Option<SignedDuration>) -> Markup {
    html! { @if let Some(time) = time { small { "usually " (span(time)) } } }
}

fn place(waiting: &Explanation) -> String {
    match (&waiting.place, &waiting.step, waiting.kind) {
        (.., Standstill::Ended) => "Over".into(),
        (Some(place), Some(step), _) => format!("Now · {place} · {step}"),
        (None, Some(step), _) => format!("Now · {step}"),
        _ => "Now".into(),
    }
}

fn sentence(operation: &Snapshot, waiting: &Explanation) -> String {
    let said = match operation.state {
        State::Succeeded => "It succeeded.".to_owned(),
        State::Failed if operation.failure.is_some() => "It failed.".to_owned(),
        State::Failed => format!("It failed: {}", waiting.reason),
        State::Pending | State::InProgress if waiting.kind == Standstill::Failing => {
            "The step failed and is tried again.".to_owned()
        }
        State::Canceled => format!("It was canceled: {}", waiting.reason),
        State::Pending | State::InProgress => waiting.reason.clone(),
    };
    let mut letters = said.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn so(kind: Standstill) -> &'static str {
    match kind {
        Standstill::Failing => "Failing for",
        Standstill::Waiting => "Waiting for",
        Standstill::Queued => "Queued for",
        Standstill::Due => "Due for",
        Standstill::Running | Standstill::Ended => "Running for",
    }
}
