//! Cancelling an operation: asked once more.

use axum::{
    extract::{Path, State},
    response::Response,
};
use maud::{Markup, html};

use crate::{
    Console,
    access::{OPERATIONS_READ, OPERATIONS_WRITE, Person},
    audited::{Request, audited},
    error::{Refused, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    operation::{name, read},
    words::kind,
};

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(wanted): Path<String>,
) -> Result<Markup, Refused> {
    person.must_operate(OPERATIONS_WRITE)?;
    person.must_operate(OPERATIONS_READ)?;
    let operation = console.parts().operations.find(read(&wanted)?).await?;
    let name = name(&console, &person, &operation).await;
    let back = format!("/console/operations/{}", operation.id);
    let what = format!("{} {name}", kind(&operation.kind));
    let body = html! {
        (layout::path(&[("/console/operations", "Operations"), (&back, &what)], "Cancel"))
        div.title { h1 { "Cancel: " (what) "?" } }
        p.sub { span { "operation " code { (operation.id) } } }
        section.card { div.body {
            form.field-list method="post" action={ (back) "/cancel" } {
                (forms::word(&person))
                p { "It ends at its next step boundary, as canceled. What its steps have made so far stays: delete the runtime to remove it." }
                div.acts {
                    button.button.danger.first type="submit" { "Cancel the operation" }
                    a.button href=(back) { "Let it go on" }
                }
            }
        } }
    };
    let frame = Frame { title: "Cancel", section: Section::Operations, live: Live::No };
    Ok(layout::page(&console, &person, &frame, &body))
}

pub(crate) async fn confirmed(
    State(console): State<Console>,
    person: Person,
    Path(wanted): Path<String>,
    _: Fields,
) -> Result<Response, Refused> {
    person.must_operate(OPERATIONS_WRITE)?;
    let id = read(&wanted)?;
    let reason = format!("called off by {}", person.name);
    let canceling = console.parts().operations.cancel(id, reason);
    let entry =
        Request { action: "cancel", instance: None, operation: Some(id), ..Request::default() };
    audited(&console, &person, entry, canceling, |_| Some(id)).await??;
    Ok(see(&format!("/console/operations/{id}")))
}
