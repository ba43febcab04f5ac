//! Changing a runtime: the parameters that its plan's schema lets change, with the values that it has.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use broker::{
    instances::{AcceptedUpdate, Update},
    runtimes::Runtime,
};
use domain::OperationId;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::{
    Console,
    access::{BROKER_WRITE, OPERATIONS_READ, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message},
    names,
    order::{described, plans, property_field, value},
    path::Path,
};

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
) -> Result<Markup, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    let present = present(&runtime);
    let properties = properties(&console, &runtime, &present);
    let filled = |name: &str| text(&present, name);
    Ok(form(&console, &person, &runtime, &properties, (&filled, &filled), None))
}

pub(crate) async fn sent(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
    fields: Fields,
) -> Result<Response, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    let present = present(&runtime);
    let properties = properties(&console, &runtime, &present);
    let filled = |name: &str| fields.get(name).to_owned();
    let shown = |name: &str| fields.get(&shown_name(name)).to_owned();
    let again = |problem: &str| {
        form(&console, &person, &runtime, &properties, (&filled, &shown), Some(problem))
            .into_response()
    };
    let changed = changed(&properties, &fields);
    if changed.is_empty() {
        return Ok(again("Nothing was changed: every field has the value that it was shown with."));
    }
    let names: Vec<&String> = changed.keys().collect();
    let details = json!({"parameters": names});
    let request = Update {
        instance_id: instance.clone(),
        service_id: runtime.service_class_id.clone(),
        parameters: Some(Value::Object(changed.clone())),
        accepts_incomplete: true,
        ..Update::default()
    };
    let caller = person.caller();
    let changing = Box::pin(console.parts().broker.update(&caller, request));
    let entry =
        Request { action: "update", instance: Some(&instance), details, ..Request::default() };
    let begun = |it: &AcceptedUpdate| it.operation.as_ref().map(OperationId::uuid);
    match audited(&console, &person, entry, changing, begun).await? {
        Ok(updated) => Ok(see(&match updated.operation {
            Some(operation) if person.operates(OPERATIONS_READ) => {
                format!("/console/operations/{operation}")
            }
            _ => format!("/console/runtimes/{instance}"),
        })),
        Err(error) => match PageError::from(error) {
            PageError::Bad(problem) => Ok(again(&problem)),
            refused => Err(refused),
        },
    }
}

async fn find(console: &Console, person: &Person, instance: &str) -> Result<Runtime, PageError> {
    let found = names::find(console, person, instance).await?;
    found.ok_or_else(|| PageError::Missing(format!("runtime {instance}")))
}

/// The parameters that the runtime has, where they are known.
fn present(runtime: &Runtime) -> Value {
    serde_json::to_value(&runtime.parameters).unwrap_or_default()
}

/// What can be changed about a runtime of its plan. Where it is not known what it has, or that is no choice any more, it can be left as it is.
fn properties(console: &Console, runtime: &Runtime, present: &Value) -> Vec<(String, Value)> {
    let plans = plans(console);
    let plan = plans.iter().find(|it| it["id"] == runtime.service_plan_id.as_str());
    let mut properties = plan.map(|plan| described(plan, "update")).unwrap_or_default();
    for (name, property) in &mut properties {
        let value = text(present, name);
        let Some(choices) = property["enum"].as_array_mut() else { continue };
        if !choices.iter().any(|choice| *choice == value.as_str()) {
            choices.insert(0, json!(""));
            property["_enumDisplayName"][""] = json!("as it is");
        }
    }
    properties
}

/// A parameter as a field shows it; empty when it is not known.
fn text(present: &Value, name: &str) -> String {
    match &present[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text of each field, by its name.
type Texts<'a> = &'a dyn Fn(&str) -> String;

/// The hidden field with what was shown in another one.
fn shown_name(name: &str) -> String {
    format!("shown-{name}")
}

/// The fields that say something else than what was shown: what others have changed since then stays.
fn changed(properties: &[(String, Value)], fields: &Fields) -> Map<String, Value> {
    let changed =
        properties.iter().filter(|(name, _)| fields.get(name) != fields.get(&shown_name(name)));
    changed
        .filter_map(|(name, property)| {
            Some((name.clone(), value(name, property, fields.get(name))?))
        })
        .collect()
}

fn form(
    console: &Console,
    person: &Person,
    runtime: &Runtime,
    properties: &[(String, Value)],
    (filled, shown): (Texts<'_>, Texts<'_>),
    problem: Option<&str>,
) -> Markup {
    let name = names::of(runtime);
    let back = format!("/console/runtimes/{}", runtime.instance_id);
    let body = html! {
        (layout::path(&[("/console/runtimes", "Runtimes"), (&back, &name)], "Change"))
        div.title { h1 { "Change " (name) } }
        p.sub { span { "plan " (runtime.service_plan_name) } span { (runtime.region) } }
        @if let Some(problem) = problem { (message(Tone::Bad, problem)) }
        section.card { div.body {
            @if properties.is_empty() {
                p.soft { "Nothing can be changed about runtimes of this plan here." }
            } @else {
                form.field-list method="post" action={ (back) "/change" } {
                    (forms::word(person))
                    p { "Only what differs is sent. The cluster is changed step by step while you watch." }
                    @for (name, property) in properties {
                        (property_field(name, property, &filled(name)))
                        input type="hidden" name=(shown_name(name)) value=(shown(name));
                    }
                    div.acts {
                        button.button.first type="submit" { "Change " (name) }
                        a.button href=(back) { "Back" }
                    }
                }
            }
        } }
    };
    let title = format!("Change {name}");
    let frame = Frame { title: &title, section: Section::Runtimes, live: Live::No };
    layout::page(console, person, &frame, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_from_what_was_shown_is_sent_and_an_empty_field_keeps_the_value() {
        let integer = json!({"type": "integer"});
        let properties = [
            ("machineType".to_owned(), json!({"type": "string"})),
            ("autoScalerMin".to_owned(), integer.clone()),
            ("autoScalerMax".to_owned(), integer),
        ];
        let sent = |max: &str| {
            let fields = [
                ("machineType", "m5.xlarge"),
                ("shown-machineType", "m5.xlarge"),
                ("autoScalerMin", ""),
                ("shown-autoScalerMin", ""),
                ("autoScalerMax", max),
                ("shown-autoScalerMax", "3"),
            ];
            let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
            changed(&properties, &Fields::from(fields.to_vec()))
        };

        assert_eq!(Value::Object(sent("5")), json!({"autoScalerMax": 5}));
        assert!(sent("3").is_empty() && sent("").is_empty());
    }
}
