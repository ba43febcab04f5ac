//! The simulated outside world of `kcp up`: every system, its trouble, what it keeps, and the calls going by.

mod control;
mod ledger;
mod objects;

use axum::{
    Router,
    extract::State,
    response::Response,
    routing::{get, post},
};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::{
    Console,
    access::Person,
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, pill},
    path::Path,
    words::count,
};

pub use control::Landscape;

/// How often the page looks again, in milliseconds: the ledger of calls tells no browser that it has grown.
const PACE: u32 = 2_000;

/// Trouble with a button: its name here, and its rule for the control API.
const TROUBLES: [(&str, &str); 6] = [
    ("down", "down: answers 503"),
    ("slow", "slow: answers after 5 s"),
    ("busy", "busy: 429, come back in 10 s"),
    ("status", "broken: answers 500"),
    ("lost-answer", "loses one answer in three"),
    ("silent", "silent: never answers"),
];

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/landscape", get(page))
        .route("/console/landscape/troubles", post(make))
        .route("/console/landscape/systems/{system}", get(objects::page))
        .route("/console/landscape/systems/{system}/heal", post(heal))
}

async fn page(State(console): State<Console>, person: Person) -> Result<Markup, PageError> {
    let landscape = landscape(&console)?;
    let (systems, troubles, lines) =
        tokio::try_join!(landscape.systems(), landscape.troubles(), landscape.ledger(None))?;
    let down = systems.iter().filter(|it| it["health"] != "up").count();
    let body = html! {
        div.title { h1 { "Landscape" } }
        p.sub {
            span { (systems.len()) " simulated systems over their real protocols" }
            span { @if down == 0 { "all of them work" } @else { (down) " with trouble" } }
        }
        div.stack {
            section.systems aria-label="Systems" {
                @for system in &systems { (card(&person, system, &troubles)) }
            }
            (ledger::card(&lines))
        }
    };
    let frame = Frame { title: "Landscape", section: Section::Landscape, live: Live::Every(PACE) };
    Ok(layout::page(&console, &person, &frame, &body))
}

fn landscape(console: &Console) -> Result<&Landscape, PageError> {
    let landscape = console.parts().landscape.as_ref();
    landscape.ok_or_else(|| PageError::Missing("simulated landscape here".into()))
}

fn card(person: &Person, system: &Value, troubles: &[Value]) -> Markup {
    let name = text(&system["name"]);
    let (tone, word) = match text(&system["health"]) {
        "up" => (Tone::Good, "up"),
        "down" => (Tone::Bad, "down"),
        other => (Tone::Slow, other),
    };
    let own: Vec<&Value> = troubles.iter().filter(|it| it["system"] == name).collect();
    html! {
        article.card.system id={ "system-" (name) } {
            div { h2 { a href={ "/console/landscape/systems/" (name) } { (name) } } (pill(tone, word)) }
            p.small.soft { (text(&system["purpose"])) }
            p.small.faint { (count(number(&system["objects"]), "object")) " · " (count(number(&system["calls"]["received"]), "call")) }
            @if own.is_empty() {
                form method="post" action="/console/landscape/troubles" {
                    (forms::word(person))
                    input type="hidden" name="system" value=(name);
                    label.unseen for={ "trouble-" (name) } { "Trouble for " (name) }
                    select id={ "trouble-" (name) } name="trouble" {
                        @for (kind, shown) in TROUBLES { option value=(kind) { (shown) } }
                    }
                    button.button.tiny type="submit" { "Break" }
                }
            } @else {
                @for rule in &own { p.small.bad { (trouble(rule)) } }
                form method="post" action={ "/console/landscape/systems/" (name) "/heal" } {
                    (forms::word(person))
                    button.button.tiny type="submit" { "Heal " (name) }
                }
            }
        }
    }
}

fn trouble(rule: &Value) -> String {
    let kind = text(&rule["trouble"]["kind"]);
    let known = TROUBLES.iter().find(|(name, _)| *name == kind);
    known.map_or_else(|| kind.to_owned(), |(_, shown)| (*shown).to_owned())
}

async fn make(
    State(console): State<Console>,
    _: Person,
    fields: Fields,
) -> Result<Response, PageError> {
    let trouble = match fields.get("trouble") {
        "slow" => json!({"kind": "slow", "delay_ms": 5_000}),
        "busy" => json!({"kind": "busy", "retry_after_seconds": 10}),
        "status" => json!({"kind": "status", "status": 500}),
        kind @ ("down" | "silent" | "lost-answer") => json!({"kind": kind}),
        other => return Err(PageError::Bad(format!("There is no trouble \"{other}\"."))),
    };
    let mut rule = json!({"system": fields.get("system"), "seconds": 3_600, "trouble": trouble});
    if fields.get("trouble") == "lost-answer" {
        rule["probability"] = json!(0.33);
    }
    landscape(&console)?.make(&rule).await?;
    Ok(see("/console/landscape"))
}

async fn heal(
    State(console): State<Console>,
    _: Person,
    Path(system): Path<String>,
    _: Fields,
) -> Result<Response, PageError> {
    let landscape = landscape(&console)?;
    for rule in landscape.troubles().await?.iter().filter(|it| it["system"] == system.as_str()) {
        landscape.end(&rule["id"]).await?;
    }
    Ok(see("/console/landscape"))
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
