//! One operation: what it does now and why it waits, and everything that happened to it, to scale.

mod chart;
mod now;
mod timeline;

use std::sync::Arc;

use axum::extract::State;
use broker::operations::view::{Entry, EntryEvent, OperationId, Shape, Snapshot};
use maud::{Markup, html};

use crate::{
    Console,
    access::{OPERATIONS_READ, OPERATIONS_WRITE, Person, RUNTIMES_READ},
    error::PageError,
    jobs,
    layout::{self, Frame, Live, Section},
    marks::{pill, standing},
    names,
    path::Path,
    unstuck,
    usual::{self, Usual},
    words::{clock, exact, id, kind},
};
use timeline::Timeline;

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(wanted): Path<String>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let wanted = read(&wanted)?;
    let view = &console.parts().operations;
    let (operation, journal, waiting) =
        tokio::try_join!(view.find(wanted), view.journal(wanted), view.waiting(wanted))?;
    let shape = shape(&console, &operation.kind);
    let name = name(&console, &person, &operation).await;
    let usual = if operation.state.is_final() {
        Arc::<Usual>::default()
    } else {
        usual::of(&console, &operation.kind).await
    };
    let now = console.now();
    let timeline = Timeline::of(shape, &operation, &journal, now);
    let (list, of, subject) = place(&operation);
    let title = format!("{} {name}", kind(&operation.kind));
    let body = html! {
        (layout::path(&[(list, of), (&subject, &name)], &kind(&operation.kind)))
        (heading(&person, shape, &operation, &title))
        div.stack {
            (now::card(&operation, &waiting, &timeline, &usual, now))
            (chart::card(&timeline, &operation, &usual, now))
            (journal_card(&journal))
        }
    };
    let live = operation.id.to_string();
    let frame = Frame { title: &title, section: Section::Operations, live: Live::Of(&live) };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// The list that an operation belongs to, its name, and the page of its object.
fn place(operation: &Snapshot) -> (&'static str, &'static str, String) {
    let instance = &operation.instance;
    if let Some(job) = jobs::of_instance(instance) {
        return ("/console/jobs", "Jobs", format!("/console/jobs/{job}"));
    }
    if operation.kind == "orchestration" {
        let page = format!("/console/orchestrations/{instance}");
        return ("/console/orchestrations", "Orchestrations", page);
    }
    ("/console/runtimes", "Runtimes", format!("/console/runtimes/{instance}"))
}

/// The id of an operation in an address.
pub(crate) fn read(text: &str) -> Result<OperationId, PageError> {
    text.parse().map_err(|_| PageError::Missing(format!("operation {text}")))
}

/// The name of what an operation works on.
pub(crate) async fn name(console: &Console, person: &Person, operation: &Snapshot) -> String {
    let has_runtime = jobs::of_instance(&operation.instance).is_none();
    if !has_runtime || !person.may(RUNTIMES_READ) {
        return names::short(&operation.instance);
    }
    let found = names::find(console, person, &operation.instance).await.ok().flatten();
    found.map_or_else(|| names::short(&operation.instance), |runtime| names::of(&runtime))
}

/// The plan of a kind of operation, as this program knows it.
pub(crate) fn shape<'a>(console: &'a Console, kind: &str) -> Option<&'a Shape> {
    let shapes = &console.parts().broker.parts().shapes;
    shapes.iter().find(|shape| shape.kind == kind).map(|shape| &**shape)
}

fn heading(person: &Person, shape: Option<&Shape>, operation: &Snapshot, title: &str) -> Markup {
    let (tone, word) = standing(operation);
    let open = !operation.state.is_final() && operation.cancel.is_none();
    html! {
        div.title {
            h1 { (title) }
            (pill(tone, word))
            span.push {}
            @if person.operates(OPERATIONS_WRITE) {
                div.acts {
                    @for action in unstuck::possible(shape, operation) {
                        a.button href={ "/console/operations/" (operation.id) "/" (action.word()) } id=(action.word()) { (action.title()) }
                    }
                    @if open { a.button.danger href={ "/console/operations/" (operation.id) "/cancel" } id="cancel" { "Cancel" } }
                }
            }
        }
        p.sub {
            span { "accepted " (exact(operation.created_at)) }
            span { (operation.runs) " runs of steps" }
            span { "operation " (id(&operation.id.to_string())) }
            @if operation.root != operation.id {
                span { "continues " a href={ "/console/operations/" (operation.root) } title=(operation.root) { (operation.root.to_string().chars().take(8).collect::<String>()) } }
            }
        }
    }
}

/// Journal entries that are no runs of steps: accepted, taken over, asked to end.
fn journal_card(journal: &[Entry]) -> Markup {
    let others: Vec<&Entry> = journal.iter().filter(|it| it.event != EntryEvent::Run).collect();
    html! {
        @if !others.is_empty() {
            section.card aria-labelledby="journal" {
                header { h2 #journal { "Acceptance and ownership" } span { (journal.len()) " journal entries in all" } }
                @if others.iter().any(|it| it.event == EntryEvent::Taken) { p.hint { "A replica is one process of this control plane. The one that took the operation works on it; when that one stops, another takes it and goes on at the same step." } }
                table { thead { tr { th { "At" } th { "What" } th { "Why" } } } tbody {
                    @for entry in others {
                        tr {
                            td.tight { time datetime=(entry.began_at) title=(exact(entry.began_at)) { (clock(entry.began_at)) } }
                            td { (event(entry.event)) }
                            td { div.why { (entry.reason.as_deref().unwrap_or_default()) } }
                        }
                    }
                } }
            }
        }
    }
}

fn event(event: EntryEvent) -> &'static str {
    match event {
        EntryEvent::Accepted => "accepted and stored",
        EntryEvent::Admitted => "its turn: nothing of the runtime is before it",
        EntryEvent::Taken => "taken by a replica",
        EntryEvent::Run => "a step ran",
        EntryEvent::CancelRequested => "asked to end",
    }
}
