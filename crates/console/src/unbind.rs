//! Ending a binding: asked once more, with its id.

use axum::{extract::State, response::Response};
use broker::{bindings::Unbind, instances::Error, runtimes::Runtime};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::{
    Console,
    access::{BROKER_WRITE, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    names,
    path::Path,
    words::{exact, id},
};

/// Where a binding is ended. Platforms choose the ids of bindings.
pub(crate) fn address(instance: &str, binding: &str) -> String {
    let segment = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    format!("/console/runtimes/{}/bindings/{}/end", segment(instance), segment(binding))
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path((instance, binding)): Path<(String, String)>,
) -> Result<Markup, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    let all = console.parts().bindings.list(&person.caller(), &instance).await?;
    let found = all.into_iter().find(|it| it.id == binding);
    let found = found.ok_or_else(|| PageError::Missing(format!("binding {binding}")))?;
    let name = names::of(&runtime);
    let back = format!("/console/runtimes/{instance}");
    let body = html! {
        (layout::path(&[("/console/runtimes", "Runtimes"), (&back, &name)], "End a binding"))
        div.title { h1 { "End a binding of " (name) "?" } }
        p.sub { span { "binding " (id(&found.id)) } span { "would end " (exact(found.expires_at)) } }
        section.card { div.body {
            form.field-list method="post" action=(address(&instance, &found.id)) {
                (forms::word(&person))
                p { "Its credentials are not accepted any more, in whatever program they are. The runtime and its other bindings stay." }
                div.acts {
                    button.button.danger.first type="submit" { "End the binding" }
                    a.button href=(back) { "Keep it" }
                }
            }
        } }
    };
    let frame = Frame { title: "End a binding", section: Section::Runtimes, live: Live::No };
    Ok(layout::page(&console, &person, &frame, &body))
}

pub(crate) async fn confirmed(
    State(console): State<Console>,
    person: Person,
    Path((instance, binding)): Path<(String, String)>,
    _: Fields,
) -> Result<Response, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    let details = json!({ "binding": binding });
    let request = Unbind {
        instance_id: instance.clone(),
        binding_id: binding,
        service_id: runtime.service_class_id,
        plan_id: runtime.service_plan_id,
    };
    let caller = person.caller();
    let ending = Box::pin(console.parts().bindings.unbind(&caller, request));
    let entry =
        Request { action: "unbind", instance: Some(&instance), details, ..Request::default() };
    match audited(&console, &person, entry, ending, |()| None).await? {
        // Somebody else has ended it, or it has expired meanwhile.
        Ok(()) | Err(Error::Gone) => Ok(see(&format!("/console/runtimes/{instance}"))),
        Err(error) => Err(error.into()),
    }
}

async fn find(console: &Console, person: &Person, instance: &str) -> Result<Runtime, PageError> {
    let found = names::find(console, person, instance).await?;
    found.ok_or_else(|| PageError::Missing(format!("runtime {instance}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_a_platform_chose_stays_one_part_of_the_address() {
        assert_eq!(address("i", "a/b?c"), "/console/runtimes/i/bindings/a%2Fb%3Fc/end");
    }
}
