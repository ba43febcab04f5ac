//! Runtimes, newest first: searched while one types; filters and page are in the address.

mod export;
mod search;

use axum::extract::State;
use broker::runtimes::{Detail, Runtime, RuntimesQuery, StateWord};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Console,
    access::{BROKER_WRITE, Person, RUNTIMES_READ},
    error::PageError,
    layout::{self, Frame, Live, Section},
    marks::{self, pill},
    names,
    operations::with_query,
    query::Query,
    words::ago,
};
use search::SearchResult;

pub(crate) use export::export;

/// The state of runtimes that were removed and of which something is left.
const INCOMPLETE: &str = "deprovisionincomplete";

/// Which runtimes are wanted.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(crate) struct RuntimesPageQuery {
    /// A part of the name, the Shoot, the account or an id.
    q: String,
    /// A word for the state; empty: all that are there.
    state: String,
    /// The name of a plan.
    plan: String,
    /// From 1.
    page: u32,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(mut wanted): Query<RuntimesPageQuery>,
) -> Result<Markup, PageError> {
    person.must(RUNTIMES_READ)?;
    wanted.page = wanted.page.max(1);
    wanted.q = wanted.q.trim().to_owned();
    let found = search::find(&console, &person, &wanted).await?;
    let body = html! {
        div.title {
            h1 { "Runtimes" }
            span.push {}
            // Names are not searched by the database, so that a search cannot be exported.
            @if wanted.q.is_empty() && found.total > 0 { a.button #export href=(export::address(&wanted)) download="runtimes.csv" { "Export as CSV" } }
            @if person.may(BROKER_WRITE) { a.button.first href="/console/order" { "Order a runtime" } }
        }
        p.sub { span { (heading(&found)) } }
        (filters(&console, &wanted))
        section.card aria-label="Runtimes" {
            @if found.runtimes.is_empty() {
                (empty(&person, &wanted))
            } @else {
                (table(&console, &found.runtimes))
            }
            (pages(&wanted, &found))
        }
    };
    // A search looks at many runtimes: it is done on request.
    let live = if wanted.q.is_empty() { Live::All } else { Live::No };
    let frame = Frame { title: "Runtimes", section: Section::Runtimes, live };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// The runtimes that fit some words.
pub(crate) struct NamedRuntimes {
    /// Their instances and names.
    pub(crate) found: Vec<(String, String)>,
    /// Among which ones names were searched, in words; none when it was all of them.
    pub(crate) among: Option<String>,
}

/// The runtimes that fit these words, in whatever state they are.
pub(crate) async fn named(
    console: &Console,
    person: &Person,
    words: &str,
) -> Result<NamedRuntimes, PageError> {
    person.must(RUNTIMES_READ)?;
    let (q, state) = (words.to_owned(), "all".to_owned());
    let wanted = RuntimesPageQuery { q, state, ..RuntimesPageQuery::default() };
    let found = search::find(console, person, &wanted).await?;
    let among = among(&found);
    let named = found.runtimes.into_iter().map(|it| (it.instance_id.clone(), names::of(&it)));
    Ok(NamedRuntimes { found: named.collect(), among })
}

/// Among which runtimes names were searched; none when it was all of them.
fn among(found: &SearchResult) -> Option<String> {
    let searched = found.searched.filter(|searched| *searched < found.total)?;
    let total = found.total;
    Some(format!(
        "names were searched among the newest {searched} of {total}, ids and accounts among all"
    ))
}

fn heading(found: &SearchResult) -> String {
    match (found.searched, among(found)) {
        (None, _) => format!("{} in all", found.total),
        (Some(_), Some(among)) => format!("{} found; {among}", found.runtimes.len()),
        (Some(_), None) => format!("{} found of {}", found.runtimes.len(), found.total),
    }
}

fn filters(console: &Console, wanted: &RuntimesPageQuery) -> Markup {
    let plans = &console.parts().broker.parts();
    let plans = plans.catalog.offered(&plans.offer).map(broker::catalog::Plan::name);
    let states = [
        "",
        "succeeded",
        "provisioning",
        "updating",
        "deprovisioning",
        "failed",
        "error",
        "suspended",
        INCOMPLETE,
        "all",
    ];
    html! {
        form.find method="get" action="/console/runtimes" role="search" data-search {
            label.unseen for="q" { "Find a runtime" }
            input #q type="search" name="q" value=(wanted.q) placeholder="Find by name, Shoot, account or id   ( / )" autocomplete="off";
            @if !wanted.state.is_empty() { input type="hidden" name="state" value=(wanted.state); }
            @if !wanted.plan.is_empty() { input type="hidden" name="plan" value=(wanted.plan); }
            button.button type="submit" { "Find" }
        }
        nav.chips aria-label="Filter by state" {
            span { "State" }
            @for word in states {
                @let name = match word { "" => "there now", "succeeded" => "ready", "error" => "change failed", INCOMPLETE => "removed, with leftovers", "all" => "all states", other => other };
                a href=(address(&RuntimesPageQuery { state: word.into(), page: 1, ..wanted.clone() })) aria-current=[(wanted.state == word).then_some("true")] { (name) }
            }
        }
        nav.chips aria-label="Filter by plan" {
            span { "Plan" }
            @for plan in plans {
                @let chosen = wanted.plan == plan;
                @let other = if chosen { String::new() } else { plan.to_owned() };
                a href=(address(&RuntimesPageQuery { plan: other, page: 1, ..wanted.clone() })) aria-current=[chosen.then_some("true")] { (plan) }
            }
        }
    }
}

/// Where the runtimes are that were removed and of which something is left.
pub(crate) fn incomplete_address() -> String {
    address(&RuntimesPageQuery { state: INCOMPLETE.into(), ..RuntimesPageQuery::default() })
}

/// How many were removed and have left something.
pub(crate) async fn incomplete(console: &Console, person: &Person) -> Result<u64, PageError> {
    let query = RuntimesQuery {
        states: vec![StateWord::DeprovisionIncomplete],
        page_size: 1,
        detail: Detail::Last,
        ..RuntimesQuery::default()
    };
    let broker = &console.parts().broker;
    Ok(broker.newest_runtimes(&person.caller(), &query).await?.total_count)
}

fn address(wanted: &RuntimesPageQuery) -> String {
    let page = if wanted.page > 1 { wanted.page.to_string() } else { String::new() };
    let fields = [
        ("q", wanted.q.as_str()),
        ("state", &wanted.state),
        ("plan", &wanted.plan),
        ("page", &page),
    ];
    with_query("/console/runtimes", &fields)
}

/// The words of the filter; those that are not known are refused.
fn states(wanted: &RuntimesPageQuery) -> Result<Vec<StateWord>, PageError> {
    if wanted.state.is_empty() {
        return Ok(vec![]);
    }
    let word = wanted.state.parse().map_err(|()| {
        let words = StateWord::words().join(", ");
        PageError::Bad(format!("state \"{}\" is none of: {words}.", wanted.state))
    })?;
    Ok(vec![word])
}

fn empty(person: &Person, wanted: &RuntimesPageQuery) -> Markup {
    let filtered = !(wanted.q.is_empty() && wanted.state.is_empty() && wanted.plan.is_empty());
    html! {
        div.empty {
            @if filtered {
                strong { "Nothing fits" }
                p { "No runtime fits this search and these filters." }
                a.button href="/console/runtimes" { "Show all runtimes" }
            } @else {
                strong { "No runtimes yet" }
                p { "A runtime is a managed Kubernetes cluster. What is ordered, here or by a platform, appears in this list." }
                @if person.may(BROKER_WRITE) { a.button.first href="/console/order" { "Order a runtime" } }
            }
        }
    }
}

fn table(console: &Console, runtimes: &[Runtime]) -> Markup {
    let now = console.now();
    html! {
        table {
            thead { tr {
                th { "Name" } th { "State" } th.wide { "Plan" } th.wide { "Region" } th.wide { "Shoot" } th.wide { "Account" } th.right { "Ordered" }
            } }
            tbody {
                @for runtime in runtimes {
                    @let (tone, word) = marks::runtime(runtime.status.state);
                    tr id={ "rt-" (runtime.instance_id) } {
                        td { b { a href={ "/console/runtimes/" (runtime.instance_id) } { (names::of(runtime)) } } }
                        td { (pill(tone, word)) }
                        td.wide { (runtime.service_plan_name) }
                        td.wide.tight { (or_dash(&runtime.region)) }
                        td.wide.tight { code { (or_dash(&runtime.shoot_name)) } }
                        td.wide { span.why { (runtime.global_account_id) } }
                        td.right.small.faint { (ago(runtime.status.created_at, now)) }
                    }
                }
            }
        }
    }
}

pub(crate) fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

fn pages(wanted: &RuntimesPageQuery, found: &SearchResult) -> Markup {
    let (page, last) = (found.page, found.pages);
    let to = |page| address(&RuntimesPageQuery { page, ..wanted.clone() });
    html! {
        @if found.searched.is_none() && last > 1 {
            div.pages {
                span { "Page " (page) " of " (last) }
                div.acts {
                    @if page > 1 {
                        a.button.tiny href=(to(1)) { "Newest" }
                        a.button.tiny href=(to(page - 1)) { "Newer" }
                    }
                    @if page < last {
                        a.button.tiny href=(to(page + 1)) { "Older" }
                        a.button.tiny href=(to(last)) { "Oldest" }
                    }
                }
            }
        }
    }
}
