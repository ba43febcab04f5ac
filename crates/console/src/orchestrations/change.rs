//! Pausing, resuming and cancelling an orchestration, trying failures again, and another number of workers.

use axum::{extract::State, response::Response};
use broker::instances::Error;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::title;
use crate::{
    Console,
    access::{ORCHESTRATIONS_READ, ORCHESTRATIONS_WRITE, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    path::Path,
};

type Answer = Result<Response, PageError>;

pub(crate) async fn pause(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
    _: Fields,
) -> Answer {
    let work = console.parts().orchestrations.pause(&id);
    changed(&console, &person, (&id, "pauseOrchestration", Value::Null), work).await
}

pub(crate) async fn resume(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
    _: Fields,
) -> Answer {
    let work = console.parts().orchestrations.resume(&id);
    changed(&console, &person, (&id, "resumeOrchestration", Value::Null), work).await
}

pub(crate) async fn cancel(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
    _: Fields,
) -> Answer {
    let work = console.parts().orchestrations.cancel(&id);
    changed(&console, &person, (&id, "cancelOrchestration", Value::Null), work).await
}

pub(crate) async fn workers(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
    fields: Fields,
) -> Answer {
    person.must_operate(ORCHESTRATIONS_WRITE)?;
    let text = fields.get("workers");
    let workers: i64 = text
        .parse()
        .map_err(|_| PageError::Bad(format!("workers must be a whole number, not {text:?}.")))?;
    let work = console.parts().orchestrations.change_workers(&id, workers);
    let details = json!({"workers": workers});
    changed(&console, &person, (&id, "changeWorkers", details), work).await
}

/// Tries everything that failed again; with `operation`, that one alone.
pub(crate) async fn retry(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
    fields: Fields,
) -> Answer {
    let operation = fields.get("operation");
    let wanted = broker::orchestrations::Retry {
        operations: Some(operation.to_owned()).filter(|it| !it.is_empty()).into_iter().collect(),
        immediate: fields.ticked("immediate"),
    };
    let all = console.parts().orchestrations.clone();
    let work = Box::pin(async {
        let retried = all.retry(&id, &wanted).await?;
        if retried.retry_shoots.is_none() { Err(Error::Unchangeable(retried.msg)) } else { Ok(()) }
    });
    changed(&console, &person, (&id, "retryOrchestration", Value::Null), work).await
}

/// Does it, with an entry in the audit, and goes back to the orchestration.
async fn changed<T>(
    console: &Console,
    person: &Person,
    (id, action, details): (&str, &str, Value),
    work: impl Future<Output = Result<T, Error>>,
) -> Answer {
    person.must_operate(ORCHESTRATIONS_WRITE)?;
    let operation = id.parse().ok();
    let entry = Request { action, operation, details, ..Request::default() };
    audited(console, person, entry, work, |_| operation).await??;
    Ok(see(&format!("/console/orchestrations/{id}")))
}

pub(crate) async fn cancel_page(
    State(console): State<Console>,
    person: Person,
    Path(id): Path<String>,
) -> Result<Markup, PageError> {
    person.must_operate(ORCHESTRATIONS_READ)?;
    person.must_operate(ORCHESTRATIONS_WRITE)?;
    let item = console.parts().orchestrations.get(&id).await?;
    let back = format!("/console/orchestrations/{}", item.orchestration_id);
    let what = title(item.kind, &item.parameters);
    let body = html! {
        (layout::path(&[("/console/orchestrations", "Orchestrations"), (&back, &what)], "Cancel"))
        div.title { h1 { "Cancel: " (what) "?" } }
        p.sub { span { "orchestration " code { (item.orchestration_id) } } }
        section.card { div.body {
            form.field-list method="post" action={ (back) "/cancel" } {
                (forms::word(&person))
                p { "No further runtime is started. Upgrades that run are seen through, and what is upgraded stays upgraded. A canceled orchestration cannot be resumed; pause it if it shall go on later." }
                div.acts {
                    button.button.danger.first type="submit" { "Cancel the orchestration" }
                    a.button href=(back) { "Let it go on" }
                }
            }
        } }
    };
    let frame = Frame { title: "Cancel", section: Section::Orchestrations, live: Live::No };
    Ok(layout::page(&console, &person, &frame, &body))
}
