//! Deleting a runtime: asked once more, with its name.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use broker::{instances::Deprovision, runtimes::Runtime};
use domain::OperationId;
use maud::{Markup, html};

use crate::{
    Console,
    access::{BROKER_WRITE, OPERATIONS_READ, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message},
    names,
    path::Path,
};

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
) -> Result<Markup, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    Ok(question(&console, &person, &runtime, None))
}

pub(crate) async fn confirmed(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
    fields: Fields,
) -> Result<Response, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    if fields.get("name") != names::of(&runtime) {
        let problem = "That is not its name. Nothing was deleted.";
        return Ok(question(&console, &person, &runtime, Some(problem)).into_response());
    }
    let request = Deprovision {
        instance_id: instance.clone(),
        service_id: runtime.service_class_id,
        plan_id: runtime.service_plan_id,
        accepts_incomplete: true,
    };
    let caller = person.caller();
    let removing = console.parts().broker.deprovision(&caller, request);
    let entry = Request { action: "deprovision", instance: Some(&instance), ..Request::default() };
    let begun = |it: &OperationId| Some(it.uuid());
    let operation = audited(&console, &person, entry, removing, begun).await??;
    Ok(see(&if person.operates(OPERATIONS_READ) {
        format!("/console/operations/{operation}")
    } else {
        format!("/console/runtimes/{instance}")
    }))
}

async fn find(console: &Console, person: &Person, instance: &str) -> Result<Runtime, PageError> {
    let found = names::find(console, person, instance).await?;
    found.ok_or_else(|| PageError::Missing(format!("runtime {instance}")))
}

fn question(
    console: &Console,
    person: &Person,
    runtime: &Runtime,
    problem: Option<&str>,
) -> Markup {
    let name = names::of(runtime);
    let back = format!("/console/runtimes/{}", runtime.instance_id);
    let body = html! {
        (layout::path(&[("/console/runtimes", "Runtimes"), (&back, &name)], "Delete"))
        div.title { h1 { "Delete " (name) "?" } }
        p.sub { span { (runtime.service_plan_name) } span { (runtime.region) } span { "account " (runtime.global_account_id) } }
        @if let Some(problem) = problem { (message(Tone::Bad, problem)) }
        section.card { div.body {
            form.field-list method="post" action={ (back) "/delete" } {
                (forms::word(person))
                p { "The cluster and everything in it are removed, with everything that was made for it in other systems. This cannot be undone. What is being worked on for it is called off." }
                div.field {
                    label for="name" { "Type " strong { (name) } " to delete it" }
                    input #name type="text" name="name" required autocomplete="off" spellcheck="false" autofocus;
                }
                div.acts {
                    button.button.danger.first type="submit" { "Delete " (name) }
                    a.button href=(back) { "Keep it" }
                }
            }
        } }
    };
    let title = format!("Delete {name}");
    let frame = Frame { title: &title, section: Section::Runtimes, live: Live::No };
    layout::page(console, person, &frame, &body)
}
