//! Operations, newest first; the runtime, the state and the page are in the address.

use std::collections::HashMap;

use axum::extract::State;
use broker::operations::view::{OperationId, Page, PageRequest, Snapshot, State as OperationState};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    Console,
    access::{OPERATIONS_READ, Person},
    error::PageError,
    layout::{self, Frame, Live, Section},
    marks::{pill, standing},
    names,
    query::Query,
    runtimes::{self, NamedRuntimes},
    words::{ago, kind, span},
};

const PAGE: u32 = 50;
/// How many runtimes are offered when several fit a search.
const CHOICES: usize = 20;

#[derive(Deserialize, Default)]
pub(crate) struct OperationsQuery {
    #[serde(default)]
    state: String,
    /// A runtime: its name, Shoot or account, a part of these, or an id.
    #[serde(default)]
    q: String,
    #[serde(default)]
    instance: String,
    after: Option<OperationId>,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(mut wanted): Query<OperationsQuery>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    wanted.q = wanted.q.trim().to_owned();
    let (found, among) = found(&console, &person, &wanted.q).await?;
    let state = match wanted.state.as_str() {
        "" => None,
        word => Some(
            word.parse::<OperationState>()
                .map_err(|error| PageError::Bad(format!("state: {error}.")))?,
        ),
    };
    let request = PageRequest {
        limit: PAGE,
        after: wanted.after,
        state,
        instance: match &found {
            Found::One(instance) => Some(instance.clone()),
            _ => Some(wanted.instance.clone()).filter(|instance| !instance.is_empty()),
        },
    };
    let page = match &found {
        Found::Several(_) => Page { operations: vec![], next: None },
        Found::All | Found::One(_) => console.parts().operations.list(request).await?,
    };
    let instances = page.operations.iter().map(|it| it.instance.as_str());
    let names = names::by_instance(&console, &person, instances.chain([&*wanted.instance])).await;
    let body = html! {
        div.title { h1 { "Operations" } }
        p.sub {
            span { "Every order, change and removal, newest first" }
            @if let Some(among) = &among { span { (among) } }
        }
        (search(&wanted, &found, &names))
        (chips(&wanted))
        section.card aria-label="Operations" {
            @if page.operations.is_empty() {
                div.empty { strong { "No operations here" } p { (nothing(&found, among.as_deref())) } }
            } @else {
                (table(&page.operations, &names, console.now()))
            }
            @if wanted.after.is_some() || page.next.is_some() {
                div.pages {
                    @if wanted.after.is_some() { a.button.tiny href=(address(&wanted, &wanted.state, None)) { "Newest" } } @else { span {} }
                    @if let Some(next) = page.next { a.button.tiny href=(address(&wanted, &wanted.state, Some(next))) { "Older" } }
                }
            }
        }
    };
    // Older pages stay as they are, and a search is done on request.
    let stays = wanted.after.is_some() || !wanted.q.is_empty();
    let live = if stays { Live::No } else { Live::All };
    let frame = Frame { title: "Operations", section: Section::Operations, live };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// The runtimes that a search means.
enum Found {
    /// Nothing is searched for.
    All,
    /// The instance of one runtime.
    One(String),
    /// The instances and names of several runtimes, or of none.
    Several(Vec<(String, String)>),
}

/// Looks for a runtime, and says among which ones. A whole name goes before parts of names; a whole id counts even if its runtime is gone.
async fn found(
    console: &Console,
    person: &Person,
    words: &str,
) -> Result<(Found, Option<String>), PageError> {
    if words.is_empty() {
        return Ok((Found::All, None));
    }
    if words.parse::<Uuid>().is_ok() && names::find(console, person, words).await?.is_some() {
        return Ok((Found::One(words.to_owned()), None));
    }
    let NamedRuntimes { found: mut runtimes, among } =
        runtimes::named(console, person, words).await?;
    if runtimes.iter().any(|(_, name)| name == words) {
        runtimes.retain(|(_, name)| name == words);
    }
    let found = match runtimes.as_slice() {
        [(instance, _)] => Found::One(instance.clone()),
        _ => Found::Several(runtimes),
    };
    Ok((found, among))
}

/// Why the list is empty. Nothing is said about runtimes that were not searched.
fn nothing(found: &Found, among: Option<&str>) -> String {
    match (found, among) {
        (Found::Several(runtimes), Some(among)) if runtimes.is_empty() => {
            format!("0 found; {among}.")
        }
        (Found::Several(runtimes), None) if runtimes.is_empty() => {
            "No runtime fits what is searched for.".into()
        }
        (Found::Several(_), _) => "Several runtimes fit: choose one above.".into(),
        (Found::All | Found::One(_), _) => "Nothing fits this filter.".into(),
    }
}

fn search(wanted: &OperationsQuery, found: &Found, names: &HashMap<String, String>) -> Markup {
    let of = |instance: &str| {
        let fields = [("state", wanted.state.as_str()), ("instance", instance)];
        with_query("/console/operations", &fields)
    };
    let instance = wanted.instance.as_str();
    let name = names.get(instance).cloned().unwrap_or_else(|| names::short(instance));
    html! {
        form.find method="get" action="/console/operations" role="search" data-search {
            label.unseen for="q" { "Find operations of a runtime" }
            input #q type="search" name="q" value=(wanted.q) placeholder="Of a runtime: name, Shoot, account or id   ( / )" autocomplete="off";
            @if !wanted.state.is_empty() { input type="hidden" name="state" value=(wanted.state); }
            button.button type="submit" { "Find" }
        }
        @if wanted.q.is_empty() && !instance.is_empty() {
            nav.chips aria-label="Filter by runtime" {
                span { "Runtime" }
                a href=(of("")) aria-current="true" aria-label={ (name) ", show all runtimes" } { (name) " ×" }
            }
        }
        @if let Found::Several(runtimes) = found { @if !runtimes.is_empty() {
            nav.chips aria-label="Filter by runtime" {
                span { "Runtime" }
                @for (instance, name) in runtimes.iter().take(CHOICES) { a href=(of(instance)) { (name) } }
                @if runtimes.len() > CHOICES { span { "and " (runtimes.len() - CHOICES) " more" } }
            }
        } }
    }
}

fn chips(wanted: &OperationsQuery) -> Markup {
    let words = std::iter::once("").chain(OperationState::ALL.map(OperationState::as_str));
    html! {
        nav.chips aria-label="Filter by state" {
            span { "State" }
            @for word in words {
                a href=(address(wanted, word, None)) aria-current=[(word == wanted.state).then_some("true")] {
                    (if word.is_empty() { "all" } else { word })
                }
            }
        }
    }
}

fn address(wanted: &OperationsQuery, state: &str, after: Option<OperationId>) -> String {
    let after = after.map(|after| after.to_string()).unwrap_or_default();
    let (q, instance) = (wanted.q.as_str(), wanted.instance.as_str());
    let fields = [("state", state), ("q", q), ("instance", instance), ("after", &after)];
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
    html! { b { a href={ "/console/operations/" (operation.id) } title={ (operation.instance) ", operation " (operation.id) } { (name) } } }
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
                    tr id={ "op-" (operation.id) } {
                        td {
                            (link(operation, names))
                            div.small.faint { (kind(&operation.kind)) }
                        }
                        td { (pill(tone, word)) }
                        td.wide { div.why { (what(operation)) } }
                        td.wide.tight { (span(operation.ended_at.unwrap_or(now).duration_since(operation.created_at))) }
                        td.right.small.faint { (ago(operation.created_at, now)) }
                    }
                    (reason_row("op", operation, 3))
                }
            }
        }
    }
}

/// What it does and why, below its row, on screens that have no room for columns with it. So many columns are left there.
pub(crate) fn reason_row(prefix: &str, operation: &Snapshot, columns: u8) -> Markup {
    let what = what(operation);
    html! {
        @if !what.0.is_empty() {
            tr.narrow id={ (prefix) "-" (operation.id) "-why" } { td.small.why colspan=(columns) { (what) } }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, operation};

    #[test]
    fn each_row_is_named_so_that_it_stays_itself_when_others_come() {
        let operation = operation("Check_Runtime");
        let shown = table(std::slice::from_ref(&operation), &HashMap::new(), at(5)).into_string();

        assert!(shown.contains(&format!("<tr id=\"op-{}\">", operation.id)), "{shown}");
    }

    #[test]
    fn nothing_is_said_about_runtimes_whose_names_were_not_searched() {
        let among = "names were searched among the newest 1000 of 1200, ids and accounts among all";
        let none = Found::Several(vec![]);

        assert_eq!(nothing(&none, Some(among)), format!("0 found; {among}."));
        assert_eq!(nothing(&none, None), "No runtime fits what is searched for.");
    }
}
