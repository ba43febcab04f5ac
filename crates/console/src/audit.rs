//! The audit: who asked for what, and what came of it; filters and page are in the address.

use std::collections::HashMap;

use axum::extract::State;
use broker::operations::view::{
    AuditEntry, AuditFilter, OperationId, OperationsError, Verification,
};
use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Console,
    access::{OPERATIONS_READ, Person},
    error::PageError,
    layout::{self, Frame, Live, Section},
    marks::{Tone, pill},
    names,
    operations::with_query,
    query::Query,
    words::ago,
};

const PAGE: u32 = 50;
/// How many are listed with a runtime.
const OF_RUNTIME: u32 = 10;
/// The words for what can be asked for.
const ACTIONS: [&str; 22] = [
    "provision",
    "update",
    "deprovision",
    "expire",
    "bind",
    "unbind",
    "fetchBinding",
    "kubeconfig",
    "cancel",
    "retry",
    "skip",
    "abandon",
    "settle",
    "upgradeKyma",
    "upgradeCluster",
    "pauseOrchestration",
    "resumeOrchestration",
    "cancelOrchestration",
    "retryOrchestration",
    "changeWorkers",
    "runJob",
    "provisionRuntime",
];
const RESULTS: [&str; 3] = ["accepted", "refused", "unknown"];

/// Which entries are wanted.
#[derive(Deserialize, Default, Clone)]
#[serde(default)]
pub(crate) struct AuditQuery {
    action: String,
    subject: String,
    instance: String,
    operation: String,
    result: String,
    /// Behind this entry.
    before: Option<OperationId>,
    /// Whether the chain is verified as well.
    verify: String,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(wanted): Query<AuditQuery>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_READ)?;
    let log = console.parts().operations.audit();
    let found = log.page(&filter(&wanted)?).await.map_err(OperationsError::from)?;
    let verified = if wanted.verify.is_empty() {
        None
    } else {
        Some(log.verify().await.map_err(OperationsError::from)?)
    };
    let instances = found.entries.iter().filter_map(|it| it.instance.as_deref());
    let names = names::by_instance(&console, &person, instances).await;
    let older =
        found.next.map(|next| address(&AuditQuery { before: Some(next), ..wanted.clone() }));
    let body = html! {
        div.title {
            h1 { "Audit" }
            span.push {}
            a.button href=(address(&AuditQuery { verify: "yes".into(), ..wanted.clone() })) #verify { "Verify the chain" }
        }
        p.sub { span { "Who asked for what, and what came of it. Entries are numbered and chained: what is changed or removed later is found" } }
        @if let Some(verified) = &verified { (verdict(verified)) }
        (filters(&wanted))
        section.card aria-label="Entries" {
            @if found.entries.is_empty() { (empty(&wanted)) } @else { (table(&found.entries, &names, console.now())) }
            @if wanted.before.is_some() || older.is_some() {
                div.pages {
                    @if wanted.before.is_some() { a.button.tiny href=(address(&AuditQuery { before: None, ..wanted.clone() })) { "Newest" } } @else { span {} }
                    @if let Some(older) = older { a.button.tiny href=(older) { "Older" } }
                }
            }
        }
    };
    let frame = Frame { title: "Audit", section: Section::Audit, live: Live::No };
    Ok(layout::page(&console, &person, &frame, &body))
}

fn filter(wanted: &AuditQuery) -> Result<AuditFilter, PageError> {
    if !wanted.result.is_empty() && !RESULTS.contains(&wanted.result.as_str()) {
        let words = RESULTS.join(", ");
        return Err(PageError::Bad(format!("result \"{}\" is none of: {words}.", wanted.result)));
    }
    let operation = match wanted.operation.trim() {
        "" => None,
        text => Some(text.parse().map_err(|_| {
            PageError::Bad(format!("operation \"{text}\" is not the id of an operation."))
        })?),
    };
    Ok(AuditFilter {
        action: wanted.action.trim().to_owned(),
        subject: wanted.subject.trim().to_owned(),
        instance: wanted.instance.trim().to_owned(),
        operation,
        result: wanted.result.clone(),
        before: wanted.before,
        most: PAGE,
    })
}

fn address(wanted: &AuditQuery) -> String {
    let before = wanted.before.map(|id| id.to_string()).unwrap_or_default();
    let fields = [
        ("action", wanted.action.as_str()),
        ("subject", &wanted.subject),
        ("instance", &wanted.instance),
        ("operation", &wanted.operation),
        ("result", &wanted.result),
        ("before", &before),
        ("verify", &wanted.verify),
    ];
    with_query("/console/audit", &fields)
}

fn verdict(verified: &Verification) -> Markup {
    let (tone, word) = if verified.whole {
        (Tone::Good, "The chain is whole")
    } else {
        (Tone::Bad, "The chain is broken")
    };
    html! {
        div.said.(tone.class()) role="status" #verified {
            (tone.shape())
            div {
                p { strong { (word) } @if let Some(problem) = &verified.problem { ": " (problem) } }
                p { "Entries " (verified.first) " to " (verified.last) ", digest " code.why { (verified.digest) }
                    @if verified.waiting > 0 { "; " (verified.waiting) " not linked yet" } "." }
            }
        }
    }
}

fn filters(wanted: &AuditQuery) -> Markup {
    let choice = |name: &str, label: &str, words: &[&str], chosen: &str| {
        html! {
            div.field {
                label for=(name) { (label) }
                select id=(name) name=(name) {
                    option value="" { "any" }
                    @for word in words { option value=(word) selected[*word == chosen] { (word) } }
                }
            }
        }
    };
    let text = |name: &str, label: &str, value: &str| {
        html! {
            div.field {
                label for=(name) { (label) }
                input type="text" id=(name) name=(name) value=(value) autocomplete="off" spellcheck="false";
            }
        }
    };
    html! {
        form.filters method="get" action="/console/audit" role="search" aria-label="Entries" {
            (choice("action", "Action", &ACTIONS, &wanted.action))
            (choice("result", "Result", &RESULTS, &wanted.result))
            (text("subject", "Caller", &wanted.subject))
            (text("instance", "Instance", &wanted.instance))
            (text("operation", "Operation", &wanted.operation))
            button.button type="submit" { "Show" }
        }
    }
}

fn empty(wanted: &AuditQuery) -> Markup {
    let filtered = address(wanted)
        != address(&AuditQuery { verify: wanted.verify.clone(), ..AuditQuery::default() });
    html! {
        div.empty {
            @if filtered {
                strong { "Nothing fits" }
                p { "No entry fits these filters. Callers, instances and operations are compared whole." }
                a.button href="/console/audit" { "Show all entries" }
            } @else {
                strong { "No entries yet" }
                p { "Every request that changes something, and every one that hands out credentials, is written down here before it is carried out." }
            }
        }
    }
}

/// Entries, newest first.
pub(crate) fn table(
    entries: &[AuditEntry],
    names: &HashMap<String, String>,
    now: Timestamp,
) -> Markup {
    html! {
        table {
            thead { tr { th { "Action" } th { "Result" } th.wide { "Caller" } th.wide { "About" } th.right.wide { "When" } } }
            tbody { @for entry in entries {
                tr id={ "audit-" (entry.id) } {
                    td {
                        b { (entry.action) }
                        div.small.faint { @if let Some(number) = entry.number() { "entry " (number) } @else { "not linked yet" } }
                        div.small.narrow { (entry.subject) ", " (ago(entry.at(), now)) }
                        div.small.narrow { (about(entry, names)) }
                    }
                    td { (result(entry)) @if let Some(reason) = &entry.reason { div.why.small { (reason) } } }
                    td.wide { (entry.subject) div.small.faint.why { (entry.issuer) @if let Some(agent) = &entry.agent { " · " (agent) } } }
                    td.wide { (about(entry, names)) }
                    td.right.small.faint.wide { (ago(entry.at(), now)) }
                }
            } }
        }
    }
}

fn result(entry: &AuditEntry) -> Markup {
    match entry.result.as_deref() {
        Some("accepted") => pill(Tone::Good, "accepted"),
        Some("refused") => pill(Tone::Bad, "refused"),
        Some(_) => pill(Tone::Slow, "unknown"),
        None => pill(Tone::Busy, "in progress"),
    }
}

fn about(entry: &AuditEntry, names: &HashMap<String, String>) -> Markup {
    let name =
        |instance: &str| names.get(instance).cloned().unwrap_or_else(|| names::short(instance));
    let orchestration = entry.action.ends_with("Orchestration")
        || ["upgradeKyma", "upgradeCluster", "changeWorkers"].contains(&entry.action.as_str());
    let details: serde_json::Value = serde_json::from_str(&entry.details).unwrap_or_default();
    let job = details["job"].as_str().filter(|_| entry.action == "runJob").map(str::to_owned);
    let of = if orchestration { "orchestration" } else { "operation" };
    html! {
        @if let Some(job) = &job { div { a href={ "/console/jobs/" (job) } { (job) } } }
        @else if let Some(instance) = &entry.instance {
            @if let Some(job) = crate::jobs::of_instance(instance) {
                div { a href={ "/console/jobs/" (job) } { (job) } }
            } @else {
                div { a href={ "/console/runtimes/" (instance) } title=(instance) { (name(instance)) } }
            }
        }
        @if let Some(operation) = entry.operation_id {
            div.small { a href={ "/console/" (of) "s/" (operation) } title=(operation) { "its " (of) } }
        }
        @if entry.instance.is_none() && entry.operation_id.is_none() { "–" }
    }
}

/// The newest entries about a runtime.
pub(crate) async fn card(console: &Console, instance: &str) -> Result<Markup, PageError> {
    let newest =
        AuditFilter { instance: instance.to_owned(), most: OF_RUNTIME, ..AuditFilter::default() };
    let log = console.parts().operations.audit();
    let found = log.page(&newest).await.map_err(OperationsError::from)?;
    let all = with_query("/console/audit", &[("instance", instance)]);
    Ok(html! {
        section.card aria-labelledby="audit" {
            header { h2 #audit { "Who asked for what" } a href=(all) { "the audit of it" } }
            @if found.entries.is_empty() {
                p.hint { "Nothing was asked for by the API or the console." }
            } @else {
                table {
                    thead { tr { th { "Action" } th { "Result" } th.wide { "Caller" } th.right { "When" } } }
                    tbody { @for entry in &found.entries {
                        tr id={ "audit-" (entry.id) } {
                            td { @if let Some(operation) = entry.operation_id { b { a href={ "/console/operations/" (operation) } { (entry.action) } } } @else { b { (entry.action) } } }
                            td { (result(entry)) @if let Some(reason) = &entry.reason { div.why.small { (reason) } } }
                            td.wide { (entry.subject) }
                            td.right.small.faint { (ago(entry.at(), console.now())) }
                        }
                    } }
                }
            }
        }
    })
}
