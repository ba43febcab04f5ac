//! The overview: current work, operations that need attention, health, slow steps.

mod history;
mod slowest;

use std::collections::HashMap;

use axum::extract::State;
use broker::operations::view::{PageRequest, Snapshot, State as OperationState};
use maud::{Markup, html};

use crate::{
    Console,
    access::{BROKER_WRITE, OPERATIONS_READ, Person, RUNTIMES_READ},
    error::PageError,
    layout::{self, Frame, Live, Section},
    marks::{pill, standing},
    names, operations,
    words::{ago, count, kind, since},
};
use history::History;

/// How many of the newest operations the numbers are made of.
const NEWEST: u32 = 200;
/// How many are listed.
const LISTED: usize = 8;

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
) -> Result<Markup, PageError> {
    if !person.operates(OPERATIONS_READ) {
        return Ok(without_operations(&console, &person));
    }
    let newest = PageRequest { limit: NEWEST, ..PageRequest::default() };
    let running =
        PageRequest { state: Some(OperationState::InProgress), limit: NEWEST, ..newest.clone() };
    let view = &console.parts().operations;
    let (newest, running) = tokio::try_join!(view.list(newest), view.list(running))?;
    let more = newest.next.is_some();
    let (newest, mut active) = (newest.operations, running.operations);
    active.extend(newest.iter().filter(|it| it.state == OperationState::Pending).cloned());
    let failed: Vec<&Snapshot> =
        newest.iter().filter(|it| it.state == OperationState::Failed).take(LISTED).collect();
    let shown =
        active.iter().take(LISTED).chain(failed.iter().copied()).chain(newest.iter().take(LISTED));
    let names = names::by_instance(&console, &person, shown.map(|it| it.instance.as_str())).await;
    let steps = slowest::of(&console, &newest).await;
    let body = html! {
        div.title {
            h1 { "Overview" }
            span.push {}
            @if person.may(BROKER_WRITE) { a.button.first href="/console/order" { "Order a runtime" } }
        }
        p.sub { span { (summary(&active)) } }
        div.stack {
            (numbers(&active, &newest))
            @if newest.is_empty() {
                (welcome(&person))
            } @else {
                (active_card(&console, &active, &names))
                div.two {
                    div.stack {
                        (failed_card(&console, &failed, &names))
                        @if newest.iter().any(|it| it.ended_at.is_some()) { (History::of(&newest, more, console.now()).card()) }
                    }
                    (slowest::card(&steps))
                }
                (recent_card(&console, &newest, &names))
            }
        }
    };
    let frame = Frame { title: "Overview", section: Section::Overview, live: Live::All };
    Ok(layout::page(&console, &person, &frame, &body))
}

fn summary(active: &[Snapshot]) -> String {
    let waiting = active.iter().filter(|it| standing(it).1 == "waiting").count();
    let retrying = active.iter().filter(|it| standing(it).1 == "retrying").count();
    match (active.len(), retrying) {
        (0, _) => "Nothing is being worked on.".into(),
        (all, 0) => format!("{} in progress, {waiting} of them waiting.", count(all, "operation")),
        (all, some) => {
            format!("{} in progress, {some} retrying after an error.", count(all, "operation"))
        }
    }
}

fn numbers(active: &[Snapshot], newest: &[Snapshot]) -> Markup {
    let of = |state| newest.iter().filter(|it| it.state == state).count();
    let (good, bad) = (of(OperationState::Succeeded), of(OperationState::Failed));
    let retrying = active.iter().filter(|it| standing(it).1 == "retrying").count();
    let mut times: Vec<_> = newest
        .iter()
        .filter(|it| it.kind == "provision" && it.state == OperationState::Succeeded)
        .filter_map(|it| Some(it.ended_at?.duration_since(it.created_at)))
        .collect();
    times.sort_unstable();
    let usual = times.get(times.len() / 2).copied();
    let share = |part: usize, all: usize| match (all, part) {
        (0, _) => "–".to_owned(),
        (all, part) if all == part => "100 %".to_owned(),
        (all, part) => format!("{}.{} %", part * 100 / all, part * 1000 / all % 10),
    };
    html! {
        section.four aria-label="In numbers" {
            div.card.number { span { a href="/console/operations?state=in+progress" { "Working now" } } b { (active.len()) } span { (kinds(active)) } }
            div.card.number {
                span { a href="/console/operations?state=failed" { "Need attention" } }
                b.bad[bad + retrying > 0] { (bad + retrying) }
                span { (bad) " failed · " (retrying) " retrying" }
            }
            div.card.number {
                span { a href="/console/pool" { "Succeeded" } }
                b { (share(good, good + bad)) }
                span { (good) " of " (count(good + bad, "operation")) }
            }
            div.card.number {
                span { "A runtime takes" }
                b { (usual.map_or("–".into(), crate::words::span)) }
                span { "median of " (count(times.len(), "order")) }
            }
        }
    }
}

/// How many there are of each kind.
fn kinds(active: &[Snapshot]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for operation in active {
        match counts.iter_mut().find(|(kind, _)| *kind == operation.kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((&operation.kind, 1)),
        }
    }
    if counts.is_empty() {
        return "nothing to do".into();
    }
    let words = counts.iter().map(|(word, count)| {
        // Only the first letter: Kyma is a name.
        let mut name = kind(word);
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        format!("{count} {name}")
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn active_card(console: &Console, active: &[Snapshot], names: &HashMap<String, String>) -> Markup {
    let now = console.now();
    html! {
        section.card aria-labelledby="active" {
            header {
                h2 #active { "What works now, and why it waits" }
                a href="/console/operations?state=in+progress" { "all in progress" }
            }
            @if active.is_empty() {
                p.hint { "Nothing is in progress. Orders, changes and removals appear here while they are worked on." }
            } @else {
                table {
                    thead { tr {
                        th { "Runtime" } th { "State" } th.wide { "Step" } th.wide { "Why" } th.right { "Elapsed" }
                    } }
                    tbody {
                        @for operation in active.iter().take(LISTED) {
                            @let (tone, word) = standing(operation);
                            tr id={ "active-" (operation.id) } {
                                td {
                                    (operations::link(operation, names))
                                    div.small.faint { (kind(&operation.kind)) }
                                    div.small.why.narrow { (operations::why(operation)) }
                                }
                                td { (pill(tone, word)) }
                                td.wide { code { (operation.step.as_deref().unwrap_or("–")) } }
                                td.wide { div.why { (operations::why(operation)) } }
                                td.right.tight { (since(operation.created_at, now)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn failed_card(console: &Console, failed: &[&Snapshot], names: &HashMap<String, String>) -> Markup {
    html! {
        section.card aria-labelledby="failed" {
            header { h2 #failed { "Failed lately" } a href="/console/operations?state=failed" { "all that failed" } }
            @if failed.is_empty() {
                p.hint { "Nothing has failed among the newest operations." }
            } @else {
                table { thead { tr { th { "Runtime" } th { "Why" } th.right { "When" } } } tbody {
                    @for operation in failed {
                        tr id={ "failed-" (operation.id) } {
                            td { (operations::link(operation, names)) div.small.faint { (kind(&operation.kind)) } }
                            td { div.why { (operations::why(operation)) } }
                            td.right.small.faint { (ago(operation.updated_at, console.now())) }
                        }
                    }
                } }
            }
        }
    }
}

fn recent_card(console: &Console, newest: &[Snapshot], names: &HashMap<String, String>) -> Markup {
    html! {
        section.card aria-labelledby="recent" {
            header { h2 #recent { "Newest operations" } a href="/console/operations" { "all operations" } }
            (operations::table(&newest[..newest.len().min(LISTED)], names, console.now()))
        }
    }
}

/// The welcome page.
fn welcome(person: &Person) -> Markup {
    html! {
        section.card { div.empty {
            strong { "Nothing has been ordered yet" }
            p { "A runtime is a managed Kubernetes cluster. Order one and watch each step of how it is made." }
            @if person.may(BROKER_WRITE) { a.button.first href="/console/order" { "Order the first runtime" } }
        } }
    }
}

/// The overview of someone who may not see operations.
fn without_operations(console: &Console, person: &Person) -> Markup {
    let body = html! {
        div.title { h1 { "Overview" } }
        p.sub { span { "Operations are shown to operators with the scope operations:read." } }
        section.card { div.empty {
            @if person.may(RUNTIMES_READ) {
                strong { "Your runtimes" }
                a.button.first href="/console/runtimes" { "Show them" }
            } @else {
                strong { "Nothing is open to this account" }
                p { "Ask the operators of this control plane for the scope runtimes:read." }
            }
        } }
    };
    let frame = Frame { title: "Overview", section: Section::Overview, live: Live::No };
    layout::page(console, person, &frame, &body)
}
