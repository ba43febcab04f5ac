//! Upgrading runtimes: which, how, and a preview that creates nothing.

use std::collections::HashMap;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use broker::orchestrations::{CreatedOrchestration, Preview};
use maud::{Markup, html};
use serde_json::json;

use super::{preview, request};
use crate::{
    Console,
    access::{ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message},
    names,
    query::Query,
};

/// The form; an address may fill it.
pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(fields): Query<Vec<(String, String)>>,
) -> Result<Markup, PageError> {
    person.must_operate(ORCHESTRATIONS_READ)?;
    let mut fields = fields;
    if fields.is_empty() {
        // A click on preview is the quickest way to see what there is.
        fields.push(("include-0-all".into(), "on".into()));
    }
    Ok(form(&console, &person, &Fields::from(fields), None, None))
}

/// Handles the form: a preview, another target, or the orchestration.
pub(crate) async fn sent(
    State(console): State<Console>,
    person: Person,
    fields: Fields,
) -> Result<Response, PageError> {
    person.must_operate(ORCHESTRATIONS_READ)?;
    let shown =
        |problem: Option<&str>| Ok(form(&console, &person, &fields, None, problem).into_response());
    if fields.get("do").starts_with("more-") {
        return shown(None);
    }
    let (kind, parameters) = match request::read(&fields) {
        Ok(read) => read,
        Err(problem) => return shown(Some(&problem)),
    };
    let all = &console.parts().orchestrations;
    if fields.get("do") != "create" {
        let previewed = all.preview(kind, parameters).await.map_err(PageError::from);
        return match previewed {
            Ok(preview) => {
                let listed = preview.runtimes.iter().take(preview::SHOWN);
                let instances = listed.map(|it| it.instance_id.as_str());
                let names = names::by_instance(&console, &person, instances).await;
                let found = Some((&preview, &names));
                Ok(form(&console, &person, &fields, found, None).into_response())
            }
            Err(PageError::Bad(problem)) => shown(Some(&problem)),
            Err(other) => Err(other),
        };
    }
    person.must_operate(ORCHESTRATIONS_WRITE)?;
    let details = json!({"dryRun": parameters.dry_run, "targets": parameters.targets});
    let entry = Request { action: kind.as_str(), details, ..Request::default() };
    let creating = all.create(kind, parameters);
    let id = |it: &CreatedOrchestration| Some(it.orchestration_id);
    match audited(&console, &person, entry, creating, id).await?.map_err(PageError::from) {
        Ok(created) => Ok(see(&format!("/console/orchestrations/{}", created.orchestration_id))),
        Err(PageError::Bad(problem)) => shown(Some(&problem)),
        Err(other) => Err(other),
    }
}

fn form(
    console: &Console,
    person: &Person,
    fields: &Fields,
    found: Option<(&Preview, &HashMap<String, String>)>,
    problem: Option<&str>,
) -> Markup {
    let writes = person.operates(ORCHESTRATIONS_WRITE);
    let body = html! {
        (layout::path(&[("/console/orchestrations", "Orchestrations")], "Upgrade runtimes"))
        div.title { h1 { "Upgrade runtimes" } }
        p.sub { span { "The preview shows which runtimes are meant, and creates nothing" } }
        @if let Some(problem) = problem { (message(Tone::Bad, problem)) }
        form.stack method="post" action="/console/orchestrations/new" {
            (forms::word(person))
            // What the Enter key presses: the first button of a form.
            button.unseen type="submit" name="do" value="preview" tabindex="-1" aria-hidden="true" { "Preview" }
            @if let Some((found, names)) = found {
                (preview::card(found, names))
                @if writes && found.count > 0 { div.acts { (create()) } }
            }
            (change(fields))
            (targets(console, fields, "include"))
            (targets(console, fields, "exclude"))
            (pace(fields))
            div.acts {
                button.button type="submit" name="do" value="preview" #preview { (if found.is_some() { "Preview again" } else { "Preview" }) }
                // Below a preview stands the button for what it shows.
                @if writes && found.is_none() { (create()) }
                a.button href="/console/orchestrations" { "Back" }
            }
        }
    };
    let frame =
        Frame { title: "Upgrade runtimes", section: Section::Orchestrations, live: Live::No };
    layout::page(console, person, &frame, &body)
}

fn create() -> Markup {
    html! { button.button.first type="submit" name="do" value="create" #create { "Create the orchestration" } }
}

fn change(fields: &Fields) -> Markup {
    let kinds = [("upgradeKyma", "Kyma"), ("upgradeCluster", "Kubernetes and the machines' image")];
    html! {
        section.card aria-labelledby="change" {
            header { h2 #change { "1. What is upgraded" } }
            div.body.fields {
                div.field {
                    label for="kind" { "Upgrade" }
                    select #kind name="kind" {
                        @for (word, name) in kinds { option value=(word) selected[fields.get("kind") == word] { (name) } }
                    }
                }
                (input(fields, "kyma", "Kyma version", "empty: the default version"))
                (input(fields, "kubernetes", "Kubernetes version", "empty: the default version"))
                (input(fields, "image", "Machine image", "Kubernetes only"))
                (input(fields, "image-version", "Version of that image", "Kubernetes only"))
            }
        }
    }
}

fn targets(console: &Console, fields: &Fields, list: &str) -> Markup {
    let rows = request::rows(fields, list);
    let (heading, help, more) = if list == "include" {
        ("2. Which runtimes", "a runtime must fit every field of a target", "Add a target")
    } else {
        ("3. Which not", "a runtime that fits one of these is left alone", "Exclude some")
    };
    html! {
        section.card aria-labelledby=(list) {
            header { h2 id=(list) { (heading) } span { (help) } }
            div.body.stack {
                input type="hidden" name={ (list) "-rows" } value=(rows);
                @for row in 0..rows { (target(console, fields, list, row)) }
                @if rows < request::MOST_TARGETS {
                    div.acts { button.button.tiny type="submit" name="do" value={ "more-" (list) } { (more) } }
                }
            }
        }
    }
}

fn target(console: &Console, fields: &Fields, list: &str, row: usize) -> Markup {
    let parts = console.parts().broker.parts();
    let plans: Vec<&str> =
        parts.catalog.offered(&parts.offer).map(broker::catalog::Plan::name).collect();
    let field = |name: &str| format!("{list}-{row}-{name}");
    html! {
        fieldset.target {
            legend { (if list == "include" { "Target " } else { "Exception " }) (row + 1) }
            @if list == "include" { (tick(fields, &field("all"), "All runtimes; what is filled in below narrows it down")) }
            div.fields {
                @for (name, label, pattern) in request::SELECTORS {
                    @let own = field(name);
                    @if name == "planName" {
                        div.field {
                            label for=(own) { (label) }
                            select id=(own) name=(own) {
                                option value="" { "any" }
                                @for plan in &plans { option value=(plan) selected[fields.get(&own) == *plan] { (plan) } }
                            }
                        }
                    } @else {
                        (input(fields, &own, label, if pattern { "regular expression" } else { "the whole name or id" }))
                    }
                }
            }
        }
    }
}

fn pace(fields: &Fields) -> Markup {
    let choices = [("", "where SPC is configured"), ("yes", "yes"), ("no", "no")];
    html! {
        section.card aria-labelledby="pace" {
            header { h2 #pace { "4. How" } span { "all of it can be changed or stopped later" } }
            div.body.stack {
                div.fields {
                    (input(fields, "workers", "Workers", "runtimes at a time; empty: 1"))
                    (input(fields, "canary", "Canaries", "runtimes that go first, alone"))
                    (input(fields, "budget", "Failure budget", "pauses after so many failures: 3 or 10%"))
                    div.field {
                        label for="not-before" { "Not before, in UTC" }
                        input type="datetime-local" #not-before name="not-before" value=(fields.get("not-before"));
                        small { "empty: at once" }
                    }
                    div.field {
                        label for="notification" { "Notify customers" }
                        select #notification name="notification" {
                            @for (word, name) in choices { option value=(word) selected[fields.get("notification") == word] { (name) } }
                        }
                    }
                }
                (tick(fields, "windows", "Wait for the maintenance window of each runtime"))
                (tick(fields, "dry-run", "Dry run: go through it and change nothing"))
            }
        }
    }
}

fn input(fields: &Fields, name: &str, label: &str, help: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            input type="text" id=(name) name=(name) value=(fields.get(name)) autocomplete="off" spellcheck="false" aria-describedby={ (name) "-help" };
            small id={ (name) "-help" } { (help) }
        }
    }
}

fn tick(fields: &Fields, name: &str, label: &str) -> Markup {
    html! {
        div.tick {
            input type="checkbox" id=(name) name=(name) checked[fields.ticked(name)];
            label for=(name) { (label) }
        }
    }
}
