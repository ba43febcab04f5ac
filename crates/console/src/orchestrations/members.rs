//! The operations of an orchestration, page by page; the filter is in the address.

use std::collections::HashMap;

use broker::orchestrations::{OperationItem, PageOf, PageRequest, StatusItem};
use domain::orchestration::no_time;
use futures::{StreamExt as _, stream};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::one::link;
use crate::{
    Console,
    access::Person,
    error::PageError,
    marks::{self, pill},
    names,
    operations::with_query,
    words::{count, exact},
};

const PAGE: u32 = 50;
/// How many operations are looked up at a time.
const AT_ONCE: usize = 4;
const STATES: [&str; 6] = ["", "pending", "in progress", "succeeded", "failed", "canceled"];

/// Which operations are wanted.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct MembersQuery {
    state: String,
    /// From 1.
    page: u32,
}

/// A page of operations.
pub(super) struct Members(PageOf<OperationItem>);

impl Members {
    /// The events that a page listens for: those of the orchestration and of the running operations that it shows.
    pub(super) fn live(&self, orchestration: &str) -> String {
        let running = self.0.data.iter().filter(|it| it.state == "in progress");
        let ids = running.map(|it| it.operation_id.to_string());
        std::iter::once(orchestration.to_owned()).chain(ids).collect::<Vec<_>>().join(" ")
    }

    /// Those of which only the operation itself tells whether it has begun: they may have been left out before.
    pub(super) fn in_doubt(&self) -> impl Iterator<Item = Uuid> {
        let ended = self.0.data.iter().filter(|it| it.state != "pending" && !has_begun(it));
        ended.map(|it| it.operation_id)
    }
}

fn has_begun(member: &OperationItem) -> bool {
    ["in progress", "succeeded"].contains(&member.state.as_str())
}

/// Operations that have begun, and what their runtimes are called.
pub(super) struct Begun(HashMap<Uuid, Option<String>>);

impl Begun {
    /// Operations with the names of their instances, as far as these are known.
    pub(super) fn named(found: Vec<(Uuid, String)>, names: &HashMap<String, String>) -> Self {
        Self(found.into_iter().map(|(id, it)| (id, names.get(&it).cloned())).collect())
    }

    pub(super) fn has(&self, operation: &Uuid) -> bool {
        self.0.contains_key(operation)
    }

    /// The name of its runtime, for those who may see runtimes.
    pub(super) fn name(&self, operation: &Uuid) -> Option<&str> {
        self.0.get(operation)?.as_deref()
    }
}

/// Which of these operations there are.
pub(super) async fn begun(console: &Console, person: &Person, operations: Vec<Uuid>) -> Begun {
    let view = &console.parts().operations;
    let look = |id: Uuid| async move { view.find(id).await.ok().map(|it| (id, it.instance)) };
    // Some at a time: the pool of connections is for orders first.
    let found = stream::iter(operations).map(look).buffer_unordered(AT_ONCE);
    let found: Vec<(Uuid, String)> = found.filter_map(std::future::ready).collect().await;
    let names = names::by_instance(console, person, found.iter().map(|it| it.1.as_str())).await;
    Begun::named(found, &names)
}

pub(super) async fn find(
    console: &Console,
    orchestration: &str,
    wanted: &MembersQuery,
) -> Result<Members, PageError> {
    if !STATES.contains(&wanted.state.as_str()) {
        let words = STATES[1..].join(", ");
        return Err(PageError::Bad(format!("state \"{}\" is none of: {words}.", wanted.state)));
    }
    let states = Some(wanted.state.clone()).filter(|it| !it.is_empty()).into_iter().collect();
    let request = PageRequest { page: wanted.page.max(1), page_size: PAGE, states };
    Ok(Members(console.parts().orchestrations.operations(orchestration, &request).await?))
}

pub(super) async fn card(
    console: &Console,
    person: &Person,
    item: &StatusItem,
    wanted: &MembersQuery,
    members: &Members,
    begun: &Begun,
) -> Markup {
    let instances = members.0.data.iter().map(|it| it.instance_id.as_str());
    let names = names::by_instance(console, person, instances).await;
    let address = |state: &str, page: u64| {
        let page = if page > 1 { page.to_string() } else { String::new() };
        let base = format!("/console/orchestrations/{}", item.orchestration_id);
        with_query(&base, &[("state", state), ("page", &page)])
    };
    let (page, last) =
        (u64::from(wanted.page.max(1)), members.0.total_count.div_ceil(u64::from(PAGE)));
    let total = usize::try_from(members.0.total_count).unwrap_or(usize::MAX);
    html! {
        section.card aria-labelledby="operations" {
            header { h2 #operations { "Its operations" } span { (count(total, "operation")) } }
            nav.chips.inside aria-label="Filter by state" {
                @for word in STATES {
                    a href=(address(word, 1)) aria-current=[(word == wanted.state).then_some("true")] { (if word.is_empty() { "all" } else { word }) }
                }
            }
            @if members.0.data.is_empty() {
                p.hint { @if wanted.state.is_empty() { "Its runtimes have not been chosen yet." } @else { "None is in this state." } }
            } @else {
                table {
                    thead { tr { th { "Runtime" } th { "State" } th.wide { "What it is at" } th.wide { "Not before" } } }
                    tbody { @for member in &members.0.data {
                        @let name = names.get(&member.instance_id).map_or(member.shoot_name.as_str(), String::as_str);
                        @let (tone, word) = marks::member(&member.state);
                        tr id={ "member-" (member.operation_id) } {
                            td {
                                // An operation that has not begun has no page.
                                b { (link(person, &member.operation_id, Some(name), has_begun(member) || begun.has(&member.operation_id))) }
                                div.small.faint { (member.shoot_name) " · " (member.service_plan_name) }
                            }
                            td { (pill(tone, word)) }
                            td.wide { div.why { (member.description) } }
                            td.wide.tight.small { @if member.maintenance_window_begin == no_time() { "–" } @else { (exact(member.maintenance_window_begin)) } }
                        }
                        @if !member.description.is_empty() {
                            tr.narrow id={ "member-" (member.operation_id) "-why" } { td.small.why colspan="2" { (member.description) } }
                        }
                    } }
                }
            }
            @if last > 1 && wanted.state != "failed" {
                div.pages {
                    span { "Page " (page) " of " (last) }
                    div.acts {
                        @if page > 1 { a.button.tiny href=(address(&wanted.state, page - 1)) { "Earlier" } }
                        @if page < last { a.button.tiny href=(address(&wanted.state, page + 1)) { "Later" } }
                    }
                }
            }
        }
    }
}
