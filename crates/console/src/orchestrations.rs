//! Orchestrations, newest first: one change over many runtimes.

mod change;
mod form;
mod members;
mod one;
mod preview;
mod request;

use std::collections::BTreeMap;

use axum::extract::State;
use broker::orchestrations::{PageRequest, StatusItem};
use domain::orchestration::{Kind, Parameters};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Console,
    access::{ORCHESTRATIONS_READ, Person},
    error::PageError,
    layout::{self, Frame, Live, Section},
    marks::{self, flag, pill},
    operations::with_query,
    pages,
    query::Query,
    words::{ago, count},
};

pub(crate) use change::{cancel, cancel_page, pause, resume, retry, workers};
pub(crate) use form::{page as form_page, sent as form_sent};
pub(crate) use one::page as one_page;

const PAGE: u32 = 20;
const STATES: [&str; 7] =
    ["pending", "in progress", "canceling", "retrying", "canceled", "succeeded", "failed"];

/// Which orchestrations are wanted.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct OrchestrationsQuery {
    state: String,
    /// From 1, the newest.
    page: u32,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(wanted): Query<OrchestrationsQuery>,
) -> Result<Markup, PageError> {
    person.must_operate(ORCHESTRATIONS_READ)?;
    if !wanted.state.is_empty() && !STATES.contains(&wanted.state.as_str()) {
        let words = STATES.join(", ");
        return Err(PageError::Bad(format!("state \"{}\" is none of: {words}.", wanted.state)));
    }
    let (rows, total) = newest(&console, &wanted).await?;
    let body = html! {
        div.title {
            h1 { "Orchestrations" }
            span.push {}
            @if !rows.is_empty() { a.button.first href="/console/orchestrations/new" { "Upgrade runtimes" } }
        }
        p.sub { span { "One change over many runtimes: " (count(usize::try_from(total).unwrap_or(usize::MAX), "orchestration")) } }
        nav.chips aria-label="Filter by state" {
            @for word in std::iter::once("").chain(STATES) {
                a href=(with_query("/console/orchestrations", &[("state", word)])) aria-current=[(word == wanted.state).then_some("true")] {
                    (if word.is_empty() { "all" } else { word })
                }
            }
        }
        section.card aria-label="Orchestrations" {
            @if rows.is_empty() { (empty(&wanted)) } @else { (table(&console, &rows)) }
            (page_links(&wanted, total))
        }
    };
    // Older pages stay as they are; the first one hears of orchestrations that it does not have yet.
    let live = if wanted.page > 1 { Live::No } else { Live::All };
    let frame = Frame { title: "Orchestrations", section: Section::Orchestrations, live };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// An orchestration, and how many of its runtimes have ended, of how many.
struct Row {
    item: StatusItem,
    done: (u64, u64),
}

/// A page counted from the newest: the store counts from the oldest.
async fn newest(
    console: &Console,
    wanted: &OrchestrationsQuery,
) -> Result<(Vec<Row>, u64), PageError> {
    let all = &console.parts().orchestrations;
    let states: Vec<String> =
        Some(wanted.state.clone()).filter(|it| !it.is_empty()).into_iter().collect();
    let one = PageRequest { page: 1, page_size: 1, states: states.clone() };
    let total = all.list(&one).await?.total_count;
    let mut rows = Vec::new();
    for piece in pages::pieces(pages::newest(total, wanted.page, PAGE), PAGE) {
        let request = PageRequest { page: piece.page, page_size: PAGE, states: states.clone() };
        for item in piece.cut(all.list(&request).await?.data) {
            let stats = all.get(&item.orchestration_id.to_string()).await?.operation_stats;
            let done = progress(&stats.unwrap_or_default());
            rows.push(Row { item, done });
        }
    }
    Ok((rows, total))
}

/// How many have ended, of how many.
fn progress(stats: &BTreeMap<String, u64>) -> (u64, u64) {
    let over = ["succeeded", "failed", "canceled"];
    let done = stats.iter().filter(|(state, _)| over.contains(&state.as_str()));
    (done.map(|(_, number)| number).sum(), stats.values().sum())
}

fn empty(wanted: &OrchestrationsQuery) -> Markup {
    html! {
        div.empty {
            @if wanted.state.is_empty() && wanted.page <= 1 {
                strong { "No orchestrations yet" }
                p { "An orchestration upgrades Kyma or Kubernetes of many runtimes: a few at a time, canaries first, paused when too many fail. Its preview shows which runtimes it means, and changes nothing." }
                a.button.first href="/console/orchestrations/new" { "Upgrade runtimes" }
            } @else {
                strong { "Nothing fits" }
                a.button href="/console/orchestrations" { "Show all orchestrations" }
            }
        }
    }
}

fn table(console: &Console, rows: &[Row]) -> Markup {
    let now = console.now();
    html! {
        table {
            thead { tr { th { "Change" } th { "State" } th.wide { "Progress" } th.wide { "What it is at" } th.right { "Asked for" } } }
            tbody { @for Row { item, done } in rows {
                @let (tone, word) = marks::orchestration(&item.state, item.paused);
                tr id={ "orchestration-" (item.orchestration_id) } {
                    td {
                        b { a href={ "/console/orchestrations/" (item.orchestration_id) } { (title(item.kind, &item.parameters)) } }
                        div.small.faint { (targets(&item.parameters)) }
                    }
                    td { (pill(tone, word)) @if item.parameters.dry_run { " " (flag("dry run")) } }
                    td.wide.tight { @if done.1 > 0 { (done.0) " of " (done.1) } @else { "–" } }
                    td.wide { div.why { (item.pause_reason.as_deref().filter(|_| item.paused).unwrap_or(&item.description)) } }
                    td.right.small.faint { (ago(item.created_at, now)) }
                }
            } }
        }
    }
}

fn page_links(wanted: &OrchestrationsQuery, total: u64) -> Markup {
    let (page, last) = (u64::from(wanted.page.max(1)), total.div_ceil(u64::from(PAGE)));
    let to = |page: u64| {
        with_query(
            "/console/orchestrations",
            &[("state", wanted.state.as_str()), ("page", &page.to_string())],
        )
    };
    html! {
        @if last > 1 {
            div.pages {
                span { "Page " (page) " of " (last) }
                div.acts {
                    @if page > 1 { a.button.tiny href=(to(page - 1)) { "Newer" } }
                    @if page < last { a.button.tiny href=(to(page + 1)) { "Older" } }
                }
            }
        }
    }
}

/// The title of an orchestration: `Kyma 2.11.0`.
fn title(kind: Kind, parameters: &Parameters) -> String {
    let (name, version) = match kind {
        Kind::UpgradeKyma => ("Kyma", parameters.kyma.as_ref().map(|it| it.version.as_str())),
        Kind::UpgradeCluster => {
            let kubernetes = parameters.kubernetes.as_ref();
            ("Kubernetes", kubernetes.map(|it| it.kubernetes_version.as_str()))
        }
    };
    match version.filter(|version| !version.is_empty()) {
        Some(version) => format!("Upgrade to {name} {version}"),
        None => format!("Upgrade of {name}"),
    }
}

/// Which runtimes an orchestration means, in a few words.
fn targets(parameters: &Parameters) -> String {
    let targets = &parameters.targets;
    let whole = matches!(&targets.include[..], [only] if request::is_all(only));
    let included =
        if whole { "all runtimes".to_owned() } else { count(targets.include.len(), "target") };
    match targets.exclude.len() {
        0 => included,
        some => format!("{included}, {}", count(some, "exception")),
    }
}
