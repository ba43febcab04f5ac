//! Objects that may exist in `AvS` or LMS: their answers were lost, and nobody can ask for them. An operator looks, and settles each.

use axum::{extract::State, response::Response};
use broker::instances::MayExist;
use maud::{Markup, html};
use serde_json::json;
use uuid::Uuid;

use crate::{
    Console,
    access::{OPERATIONS_READ, OPERATIONS_WRITE, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    names,
    path::Path,
    words::{ago, exact},
};

/// How many are listed.
pub(crate) const LISTED: u32 = 100;
const ADDRESS: &str = "/console/may-exist";

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let listed = console.parts().broker.may_exist(None, LISTED).await?;
    let instances = listed.may_exist.iter().map(|it| it.instance.as_str());
    let names = names::by_instance(&console, &person, instances).await;
    let may_settle = person.operates(OPERATIONS_WRITE);
    let now = console.now();
    let body = html! {
        (layout::path(&[("/console/operations", "Operations")], "What may exist"))
        div.title { h1 { "What may exist" } }
        p.sub { span { "Calls without a stored answer, to systems that cannot be asked for what they have made; an operation in progress may still store its own" } }
        section.card aria-label="What may exist" {
            @if listed.may_exist.is_empty() {
                div.empty { strong { "Nothing is in doubt" } p { "Every call that makes something was answered, or has been settled." } }
            } @else {
                table {
                    thead { tr { th { "Object" } th.wide { "Its id" } th { "Runtime" } th.right.wide { "Since" } @if may_settle { th.right { span.unseen { "Action" } } } } }
                    tbody { @for it in &listed.may_exist {
                        @let name = names.get(&it.instance).cloned().unwrap_or_else(|| names::short(&it.instance));
                        tr id={ "may-exist-" (it.id) } {
                            td { b { (it.name) } div.small.faint { "in " (it.system) } }
                            td.wide { code { (it.known_as.as_deref().unwrap_or("not known")) } }
                            td { a href={ "/console/operations/" (it.operation) } title={ (it.instance) ", operation " (it.operation) } { (name) } }
                            td.right.small.faint.wide { (ago(it.since, now)) }
                            @if may_settle {
                                td.right { a.button.tiny href={ (ADDRESS) "/" (it.id) "/settle" } aria-label={ "Settle " (it.name) } { "Settle" } }
                            }
                        }
                    } }
                }
                @if listed.next.is_some() { p.hint { "There are more; all: " code { "kcp leftovers" } } }
            }
        }
    };
    let frame = Frame { title: "What may exist", section: Section::Operations, live: Live::All };
    Ok(layout::page(&console, &person, &frame, &body))
}

/// The entry with this id.
async fn find(console: &Console, id: &str) -> Result<MayExist, PageError> {
    let missing = || PageError::Missing(format!("entry {id}"));
    let wanted: Uuid = id.parse().map_err(|_| missing())?;
    let broker = &console.parts().broker;
    let mut after = None;
    loop {
        let page = broker.may_exist(after, LISTED).await?;
        if let Some(found) = page.may_exist.into_iter().find(|it| it.id == wanted) {
            return Ok(found);
        }
        after = Some(page.next.ok_or_else(missing)?);
    }
}

pub(crate) async fn question(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_WRITE)?;
    person.must_operate(OPERATIONS_READ)?;
    let MayExist { id, system, name, known_as, since, .. } = find(&console, &id).await?;
    let body = html! {
        (layout::path(&[("/console/operations", "Operations"), (ADDRESS, "What may exist")], "Settle"))
        div.title { h1 { "Settle " (name) "?" } }
        p.sub { span { "in " (system) } span { "id there: " (known_as.as_deref().unwrap_or("not known")) } span { "since " (exact(since)) } }
        section.card { div.body {
            form.field-list method="post" action={ (ADDRESS) "/" (id) "/settle" } {
                (forms::word(&person))
                p { "It is taken off the list. Look for it in " (system) " first: settle it when it is not there, or when you have removed it by hand. Nothing is removed by this." }
                div.acts {
                    button.button.first type="submit" { "Settle it" }
                    a.button href=(ADDRESS) { "Keep it on the list" }
                }
            }
        } }
    };
    let frame = Frame { title: "Settle", section: Section::Operations, live: Live::No };
    Ok(layout::page(&console, &person, &frame, &body))
}

pub(crate) async fn settled(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
    _: Fields,
) -> Result<Response, PageError> {
    person.must_operate(OPERATIONS_WRITE)?;
    let entry: Uuid = id.parse().map_err(|_| PageError::Missing(format!("entry {id}")))?;
    let details = json!({"entry": entry});
    let request = Request { action: "settle", details, ..Request::default() };
    let settling = console.parts().broker.settle(entry);
    audited(&console, &person, request, settling, |()| None).await??;
    Ok(see(ADDRESS))
}
