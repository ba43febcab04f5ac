//! Operations, newest first; filters are in the address.

use std::collections::HashMap;

use axum::extract::{Query, State};
use broker::operations::view::{OperationId, PageRequest, Snapshot, State as OperationState};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Console,
    access::{OPERATIONS_READ, Person},
    error::Refused,
    layout::{self, Frame, Live, Section},
    marks::{pill, standing},
    names,
    words::{ago, kind, span},
};

const PAGE: u32 = 50;

#[derive(Deserialize, Default)]
pub(crate) struct Wanted {
    #[serde(default)]
    state: String,
    #[serde(default)]
    instance: String,
    after: Option<OperationId>,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(wanted): Query<Wanted>,
) -> Result<Markup, Refused> {
    person.must_operate(OPERATIONS_READ)?;
    let state = match wanted.state.as_str() {
        "" => None,
        word => Some(
            word.parse::<OperationState>()
                .map_err(|error| Refused::Bad(format!("state: {error}.")))?,
        ),
    };
    let request = PageRequest {
        limit: PAGE,
        after: wanted.after,
        state,
        instance: Some(wanted.instance.clone()).filter(|instance| !instance.is_empty()),
    };
    let page = console.parts().operations.list(request).await?;
    let instances = page.operations.iter().map(|it| it.instance.as_str());
    let names = names::by_instance(&console, &person, instances).await;
    let body = html! {
        div.title { h1 { "Operations" } }
        p.sub { span { "Every order, change and removal, newest first" } }
        (chips(&wanted))
        section.card aria-label="Operations" {
            @if page.operations.is_empty() {
                div.empty { strong { "No operations here" } p { "Nothing fits this filter." } }
            } @else {
                (table(&page.operations, &names, console.now()))
            }
            @if let Some(next) = page.next {
                div.pages { span {} a.button.tiny href=(address(&wanted, &wanted.state, Some(next))) { "Older" } }
            }
        }
    };
    // Older pages stay as they are.
    let live = if wanted.after.is_some() { Live::No } else { Live::All };
    let frame = Frame { title: "Operations", section: Section::Operations, live };
    Ok(layout::page(&console, &person, &frame, &body))
}

fn chips(wanted: &Wanted) -> Markup {
    let words = std::iter::once("").chain(OperationState::ALL.map(OperationState::as_str));
    html! {
        nav.chips aria-label="Filter by state" {
            @for word in words {
                a href=(address(wanted, word, None)) aria-current=[(word == wanted.state).then_some("true")] {
                    (if word.is_empty() { "all" } else { word })
                }
            }
        }
    }
}

fn address(wanted: &Wanted, state: &str, after: Option<OperationId>) -> String {
    let after = after.map(|after| after.to_string()).unwrap_or_default();
    let fields = [("state", state), ("instance", &wanted.instance), ("after", &after)];
    with_query("/console/operations", &fields)
}

/// An address with those of the fields that are not empty.
pub(crate) fn with_query(path: &str, fields: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields.iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        empty if empty.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// The name of what an operation works on, leading to the operation.
pub(crate) fn link(operation: &Snapshot, names: &HashMap<String, String>) -> Markup {
    let name = names.get(&operation.instance).cloned();
    let name = name.unwrap_or_else(|| names::short(&operation.instance));
    html! { b { a href={ "/console/operations/" (operation.id) } { (name) } } }
}

/// Why it waits, or how it ended, in one sentence.
pub(crate) fn why(operation: &Snapshot) -> String {
    match (&operation.failure, &operation.note) {
        (Some(failure), _) if operation.state != OperationState::Succeeded => failure.to_string(),
        (_, Some(note)) if !operation.state.is_final() => note.clone(),
        (_, Some(note)) if operation.state != OperationState::Succeeded => note.clone(),
        _ => String::new(),
    }
}

pub(crate) fn table(
    operations: &[Snapshot],
    names: &HashMap<String, String>,
    now: Timestamp,
) -> Markup {
    html! {
        table {
            thead { tr {
                th { "Runtime" } th { "State" } th.wide { "What" } th.wide { "Took" } th.right { "Accepted" }
            } }
            tbody {
                @for operation in operations {
                    @let (tone, word) = standing(operation);
                    tr {
                        td { (link(operation, names)) div.small.faint { (kind(&operation.kind)) } }
                        td { (pill(tone, word)) }
                        td.wide { div.why { (what(operation)) } }
                        td.wide.tight { (span(operation.ended_at.unwrap_or(now).duration_since(operation.created_at))) }
                        td.right.small.faint { (ago(operation.created_at, now)) }
                    }
                }
            }
        }
    }
}

/// Its step while it works; how it ended otherwise.
fn what(operation: &Snapshot) -> Markup {
    let why = why(operation);
    html! {
        @if let (Some(step), false) = (&operation.step, operation.state.is_final()) { code { (step) } " " }
        (why)
    }
}
