//! One simulated system: what it keeps, and the calls that it got.

use axum::extract::State;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::{PACE, card, landscape, ledger, text};
use crate::{
    Console,
    access::Person,
    error::PageError,
    layout::{self, Frame, Live, Section},
    operations::with_query,
    path::Path,
    query::Query,
    words::count,
};

/// How many objects are shown.
const SHOWN: usize = 200;

#[derive(Deserialize, Default)]
pub(super) struct ObjectsQuery {
    /// Only objects of this kind.
    #[serde(default)]
    kind: String,
}

pub(super) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(name): Path<String>,
    Query(wanted): Query<ObjectsQuery>,
) -> Result<Markup, PageError> {
    let landscape = landscape(&console)?;
    let systems = landscape.systems().await?;
    let system = systems.iter().find(|it| it["name"] == name.as_str());
    let system = system.ok_or_else(|| PageError::Missing(format!("simulated system {name}")))?;
    let (objects, troubles, lines) = tokio::try_join!(
        landscape.objects(&name),
        landscape.troubles(),
        landscape.ledger(Some(&name))
    )?;
    let body = html! {
        (layout::path(&[("/console/landscape", "Landscape")], &name))
        div.title { h1 { (name) } }
        p.sub { span { (text(&system["purpose"])) } span { "at " code { (text(&system["base"])) } } }
        div.stack {
            div.systems { (card(&person, system, &troubles)) }
            (objects_card(&name, &objects, &wanted.kind))
            (ledger::card(&lines))
        }
    };
    let frame = Frame { title: &name, section: Section::Landscape, live: Live::Every(PACE) };
    Ok(layout::page(&console, &person, &frame, &body))
}

fn objects_card(system: &str, objects: &[Value], wanted: &str) -> Markup {
    let kinds = kinds(objects);
    let fits = |it: &&Value| wanted.is_empty() || it["kind"] == wanted;
    let shown: Vec<&Value> = objects.iter().filter(fits).collect();
    let path = format!("/console/landscape/systems/{system}");
    html! {
        section.card aria-labelledby="objects" {
            header { h2 #objects { "What it keeps" } span { (count(shown.len(), "object")) } }
            @if kinds.len() > 1 {
                nav.chips.inside aria-label="Filter by kind" {
                    a href=(path) aria-current=[wanted.is_empty().then_some("true")] { "all" }
                    @for (kind, count) in &kinds {
                        a href=(with_query(&path, &[("kind", kind)])) aria-current=[(wanted == *kind).then_some("true")] { (kind) " " (count) }
                    }
                }
            }
            @if shown.is_empty() {
                p.hint { "It keeps nothing yet. Order a runtime and watch." }
            } @else {
                table {
                    thead { tr { th { "Kind" } th { "Object" } } }
                    tbody { @for object in shown.iter().take(SHOWN) { (row(object)) } }
                }
                @if shown.len() > SHOWN { p.hint { "The first " (SHOWN) "; all: " code { "kcp landscape objects " (system) } } }
            }
        }
    }
}

fn row(object: &Value) -> Markup {
    let (kind, id) = (text(&object["kind"]), text(&object["id"]));
    let value = serde_json::to_string_pretty(&object["value"]).unwrap_or_default();
    html! {
        tr id={ "object-" (kind) "-" (id) } {
            td.tight { (kind) }
            td { details { summary { span.mono.why { (id) } } pre { (value) } } }
        }
    }
}

/// How many objects of each kind there are, in the order in which they come.
fn kinds(objects: &[Value]) -> Vec<(&str, usize)> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for object in objects {
        let kind = text(&object["kind"]);
        match kinds.iter_mut().find(|(own, _)| *own == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_listed_by_kind_with_their_values_folded() {
        let objects = [
            json!({"kind": "tenant", "id": "t-1", "value": {"env": "prod"}}),
            json!({"kind": "key", "id": "k-1", "value": "<b>"}),
            json!({"kind": "tenant", "id": "t-2", "value": null}),
        ];

        let all = objects_card("edp", &objects, "").into_string();
        let some = objects_card("edp", &objects, "key").into_string();

        assert!(all.contains("tenant 2") && all.contains("3 objects"), "{all}");
        assert!(all.contains("/console/landscape/systems/edp?kind=key"), "{all}");
        assert!(some.contains("k-1") && !some.contains("t-1") && some.contains("&lt;b&gt;"));
    }
}
