//! The overview: current work, operations that need attention, health, slow steps.

mod counts;
mod history;
mod left;
mod slowest;

use std::collections::HashMap;

use axum::extract::State;
use broker::operations::view::{PageRequest, Snapshot, State as OperationState, StuckOperation};
use futures::future::join_all;
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
use counts::Counts;
use history::History;
use left::Left;

/// How many of the newest operations the charts are made of.
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
    // Of so many, the store knows those that have stood for longest.
    let present = match running.next {
        Some(_) => Some(console.parts().answers.present().await?),
        None => None,
    };
    let counts = Counts::read(&console, &running.operations, present.as_ref()).await?;
    let more = newest.next.is_some();
    let (newest, mut active) = (newest.operations, running.operations);
    active.extend(newest.iter().filter(|it| it.state == OperationState::Pending).cloned());
    if let Some(present) = present {
        active.extend(stuck(&console, &present.stuck, &active).await);
    }
    attention_first(&mut active);
    let left = Left::read(&console, &person).await?;
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
        p.sub { span { (counts.summary()) } }
        (left.lines())
        div.stack {
            (numbers(&counts, &newest))
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

/// Those of the operations that have stood for longest that are not known yet.
async fn stuck(console: &Console, stuck: &[StuckOperation], known: &[Snapshot]) -> Vec<Snapshot> {
    let view = &console.parts().operations;
    let others = stuck.iter().filter(|it| known.iter().all(|known| known.id != it.operation));
    let found = join_all(others.take(LISTED).map(|it| view.find(it.operation))).await;
    // One that has ended since then is no reason to show nothing.
    found.into_iter().flatten().filter(|it| !it.state.is_final()).collect()
}

/// What is tried again stands above what waits, and both above everything else; what has been there for longest above the rest.
fn attention_first(active: &mut [Snapshot]) {
    active.sort_by_key(|it| {
        let rank = match standing(it).1 {
            "retrying" => 0,
            "waiting" => 1,
            _ => 2,
        };
        (rank, it.created_at)
    });
}

fn numbers(counts: &Counts, newest: &[Snapshot]) -> Markup {
    let mut times: Vec<_> = newest
        .iter()
        .filter(|it| it.kind == "provision" && it.state == OperationState::Succeeded)
        .filter_map(|it| Some(it.ended_at?.duration_since(it.created_at)))
        .collect();
    times.sort_unstable();
    let usual = times.get(times.len() / 2).copied();
    html! {
        section.four aria-label="In numbers" {
            (counts.cards())
            div.card.number {
                span { "A runtime takes" }
                b { (usual.map_or("–".into(), crate::words::span)) }
                span { "median of the newest " (count(times.len(), "order")) }
            }
        }
    }
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
                                }
                                td { (pill(tone, word)) }
                                td.wide { code { (operation.step.as_deref().unwrap_or("–")) } }
                                td.wide { div.why { (operations::why(operation)) } }
                                td.right.tight { (since(operation.created_at, now)) }
                            }
                            (operations::reason_row("active", operation, 3))
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

#[cfg(test)]
mod tests {
    use broker::operations::view::OperationId;

    use super::*;
    use crate::testing::{at, operation};

    #[test]
    fn what_needs_attention_is_above_what_only_runs_and_the_oldest_is_above_the_rest() {
        let made = |number: u128, failing: bool, waiting: bool, created: i64| Snapshot {
            id: OperationId::from_u128(number),
            failing_since: failing.then(|| at(0)),
            waiting_since: waiting.then(|| at(0)),
            created_at: at(created),
            ..operation("Check_Runtime")
        };
        // Newest first, as they are read: the one that fails for longest is behind more than fit.
        let mut active: Vec<Snapshot> =
            (0..8_u8).map(|it| made(it.into(), false, false, 100 - i64::from(it))).collect();
        active.extend([
            made(20, false, true, 50),
            made(21, true, false, 40),
            made(22, false, true, 30),
            made(23, true, false, 20),
        ]);

        attention_first(&mut active);

        let shown: Vec<u128> = active.iter().take(LISTED).map(|it| it.id.as_u128()).collect();
        assert_eq!(shown, [23, 21, 22, 20, 7, 6, 5, 4]);
    }
}
