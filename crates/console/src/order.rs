//! Ordering a runtime: a plan, a name, a region, and what else the plan's own schema offers.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use broker::instances::{AcceptedOrder, Provision};
use domain::OperationId;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    Console,
    access::{BROKER_WRITE, OPERATIONS_READ, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message},
    query::Query,
};

/// The platform's region of orders from here, unless the form says another one.
const PLATFORM_REGION: &str = "cf-eu10";
/// The parameter with the credentials of a cluster that is brought along.
const KUBECONFIG: &str = "kubeconfig";
/// The parameters that the forms have, where a plan's schema describes them.
const FIELDS: [&str; 7] = [
    "region",
    "machineType",
    "autoScalerMin",
    "autoScalerMax",
    "shootName",
    "shootDomain",
    KUBECONFIG,
];

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct OrderQuery {
    plan: String,
}

/// The values of a form.
#[derive(Default)]
struct FormValues {
    instance: String,
    values: Map<String, Value>,
}

impl FormValues {
    fn get(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Query(wanted): Query<OrderQuery>,
) -> Result<Markup, PageError> {
    person.must(BROKER_WRITE)?;
    // The id is drawn with the form, so that a form that is sent twice orders once.
    let filled = FormValues { instance: Uuid::new_v4().to_string(), values: Map::new() };
    Ok(form(&console, &person, &wanted.plan, &filled, None))
}

pub(crate) async fn ordered(
    State(console): State<Console>,
    person: Person,
    fields: Fields,
) -> Result<Response, PageError> {
    person.must(BROKER_WRITE)?;
    // Another plan is chosen: what was typed stays.
    let (plan, is_chosen) = match fields.get("choose") {
        "" => (fields.get("plan").to_owned(), false),
        other => (other.to_owned(), true),
    };
    let schema = plans(&console).into_iter().find(|it| it["name"] == plan.as_str());
    let schema = schema.ok_or_else(|| PageError::Bad(format!("There is no plan \"{plan}\".")))?;
    if is_chosen {
        return Ok(form(&console, &person, &plan, &filled(&schema, &fields), None).into_response());
    }
    let parts = console.parts().broker.parts();
    let account = person.tenant.clone().unwrap_or_else(|| fields.get("account").to_owned());
    let mut parameters = json!({"name": fields.get("name")});
    for (name, property) in offered(&schema) {
        if let Some(value) = value(&name, &property, fields.get(&name)) {
            parameters[name] = value;
        }
    }
    let request = Provision {
        instance_id: fields.get("instance").to_owned(),
        region: Some(fields.get("platform_region")).filter(|it| !it.is_empty()).map(str::to_owned),
        service_id: parts.catalog.service_id().to_owned(),
        plan_id: schema["id"].as_str().unwrap_or_default().to_owned(),
        context: Some(json!({
            "platform": "kcp",
            "globalaccount_id": account,
            "subaccount_id": fields.get("subaccount"),
            "user_id": fields.get("user"),
        })),
        parameters: Some(parameters),
        maintenance_version: None,
        accepts_incomplete: true,
    };
    let instance = request.instance_id.clone();
    let caller = person.caller();
    let ordering = console.parts().broker.provision(&caller, request);
    let entry = Request { action: "provision", instance: Some(&instance), ..Request::default() };
    let begun = |it: &AcceptedOrder| it.operation.as_ref().map(OperationId::uuid);
    match audited(&console, &person, entry, ordering, begun).await? {
        Ok(provisioned) => Ok(see(&match provisioned.operation {
            Some(operation) if person.operates(OPERATIONS_READ) => {
                format!("/console/operations/{operation}")
            }
            _ => format!("/console/runtimes/{instance}"),
        })),
        Err(error) => {
            let refused = PageError::from(error);
            let PageError::Bad(problem) = refused else { return Err(refused) };
            let filled = filled(&schema, &fields);
            Ok(form(&console, &person, &plan, &filled, Some(&problem)).into_response())
        }
    }
}

/// What was typed into a form, for the form of a plan.
fn filled(schema: &Value, fields: &Fields) -> FormValues {
    let known = ["name", "account", "subaccount", "user", "platform_region"];
    let all = known
        .into_iter()
        .map(str::to_owned)
        .chain(offered(schema).into_iter().map(|(name, _)| name));
    // Credentials are not sent back.
    let values = all
        .filter(|name| name != KUBECONFIG)
        .map(|name| {
            let value = json!(fields.get(&name));
            (name, value)
        })
        .collect();
    FormValues { instance: fields.get("instance").to_owned(), values }
}

/// The plans of the catalog with their schemas.
pub(crate) fn plans(console: &Console) -> Vec<Value> {
    let catalog = console.parts().broker.catalog(Some(PLATFORM_REGION));
    catalog["services"][0]["plans"].as_array().cloned().unwrap_or_default()
}

/// The parameters of a plan that the form has: choices and numbers that its schema describes.
fn offered(plan: &Value) -> Vec<(String, Value)> {
    described(plan, "create")
}

/// The same of what can be given when an instance is made (`create`) or changed (`update`).
pub(crate) fn described(plan: &Value, when: &str) -> Vec<(String, Value)> {
    let schema = &plan["schemas"]["service_instance"][when]["parameters"]["properties"];
    FIELDS
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), schema.get(name)?.clone())))
        .collect()
}

/// A field in the form that the schema wants; none when it was left empty.
pub(crate) fn value(name: &str, property: &Value, text: &str) -> Option<Value> {
    match (text, property["type"].as_str()) {
        ("", _) => None,
        // The API takes it in base64, people have it as YAML, which base64 has no colon for.
        (text, _) if name == KUBECONFIG && text.contains(':') => {
            Some(json!(BASE64_STANDARD.encode(text)))
        }
        (text, Some("integer")) => {
            Some(text.parse::<i64>().map_or_else(|_| json!(text), Value::from))
        }
        (text, _) => Some(json!(text)),
    }
}

fn form(
    console: &Console,
    person: &Person,
    chosen: &str,
    filled: &FormValues,
    problem: Option<&str>,
) -> Markup {
    let plans = plans(console);
    let plan = plans
        .iter()
        .find(|it| it["name"] == chosen)
        .or_else(|| plans.iter().find(|it| it["name"] == "aws"))
        .or(plans.first());
    let body = html! {
        (layout::path(&[("/console/runtimes", "Runtimes")], "Order"))
        div.title { h1 { "Order a runtime" } }
        p.sub { span { "A managed Kubernetes cluster with Kyma, made step by step while you watch" } }
        @if let Some(problem) = problem { (message(Tone::Bad, problem)) }
        @if let Some(plan) = plan {
            form.stack method="post" action="/console/order" {
                (forms::word(person))
                // What the Enter key presses: the first button of a form.
                button.unseen type="submit" tabindex="-1" aria-hidden="true" { "Order" }
                section.card aria-labelledby="plan" {
                    header { h2 #plan { "1. Service plan" } span { (plans.len()) " offered" } }
                    div.body.plans role="group" aria-label="Service plans" {
                        @for one in &plans {
                            @let chosen = one["id"] == plan["id"];
                            button type="submit" name="choose" value=(text(&one["name"])) formnovalidate aria-pressed=(chosen) {
                                b { (text(&one["name"])) } span { (text(&one["description"])) }
                            }
                        }
                    }
                }
                section.card aria-labelledby="what" {
                    header { h2 #what { "2. The runtime" } span { "plan " (text(&plan["name"])) } }
                    div.body { (fields(person, plan, filled)) }
                }
            }
        } @else {
            section.card { div.empty { strong { "Nothing can be ordered" } p { "The catalog offers no plan." } } }
        }
    };
    let frame = Frame { title: "Order a runtime", section: Section::Runtimes, live: Live::No };
    layout::page(console, person, &frame, &body)
}

fn fields(person: &Person, plan: &Value, filled: &FormValues) -> Markup {
    let or = |name: &str, default: &str| match filled.get(name) {
        "" if person.is_developer() => default.to_owned(),
        given => given.to_owned(),
    };
    html! {
        div.field-list {
            input type="hidden" name="instance" value=(filled.instance);
            input type="hidden" name="plan" value=(text(&plan["name"]));
            (input("name", "Name", filled.get("name"), "What people call it, as in demo or payments-prod."))
            @for (name, property) in offered(plan) { (property_field(&name, &property, filled.get(&name))) }
            details open[!person.is_developer()] {
                summary { "For whom: account, subaccount, user, platform region" }
                div.field-list {
                    @if let Some(tenant) = &person.tenant {
                        p.soft { "Global account " code { (tenant) } }
                    } @else {
                        (input("account", "Global account", &or("account", "local-account"), ""))
                    }
                    (input("subaccount", "Subaccount", &or("subaccount", "local-subaccount"), ""))
                    (input("user", "User", &or("user", "developer@example.test"), "Who orders, and administers the cluster."))
                    (input("platform_region", "Platform region", &or("platform_region", PLATFORM_REGION), "Decides which regions and providers are offered."))
                }
            }
            div.acts {
                button.button.first type="submit" { "Order" }
                a.button href="/console/runtimes" { "Back" }
            }
        }
    }
}

fn input(name: &str, label: &str, value: &str, help: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            input type="text" id=(name) name=(name) value=(value) required autocomplete="off" spellcheck="false" aria-describedby=[(!help.is_empty()).then(|| format!("{name}-help"))];
            @if !help.is_empty() { small id={ (name) "-help" } { (help) } }
        }
    }
}

pub(crate) fn property_field(name: &str, property: &Value, value: &str) -> Markup {
    let label = match name {
        "region" => "Region",
        "machineType" => "Machine type",
        "autoScalerMin" => "Fewest nodes",
        "autoScalerMax" => "Most nodes",
        "shootName" => "Name of the cluster",
        "shootDomain" => "Domain of the cluster",
        KUBECONFIG => "Kubeconfig of the cluster",
        other => other,
    };
    let choices = property["enum"].as_array();
    let default = property["default"].to_string();
    html! {
        div.field {
            label for=(name) { (label) }
            @if let Some(choices) = choices {
                select id=(name) name=(name) {
                    @for choice in choices {
                        @let shown = property["_enumDisplayName"][text(choice)].as_str().unwrap_or(text(choice));
                        option value=(text(choice)) selected[text(choice) == value] { (shown) }
                    }
                }
            } @else if name == KUBECONFIG {
                textarea id=(name) name=(name) rows="6" autocomplete="off" spellcheck="false" {}
            } @else if property["type"] == "string" {
                input type="text" id=(name) name=(name) value=(value) autocomplete="off" spellcheck="false";
            } @else {
                input type="text" id=(name) name=(name) value=(value) inputmode="numeric" placeholder=(if default == "null" { "" } else { &default }) autocomplete="off";
            }
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_sent_in_the_types_of_the_schema_and_a_kubeconfig_in_base64() {
        let (text, integer) = (json!({"type": "string"}), json!({"type": "integer"}));

        assert_eq!(value("autoScalerMax", &integer, "5"), Some(json!(5)));
        assert_eq!(value("autoScalerMax", &integer, "many"), Some(json!("many")));
        assert_eq!(value("region", &text, ""), None);
        let encoded = BASE64_STANDARD.encode("apiVersion: v1");
        assert_eq!(value(KUBECONFIG, &text, "apiVersion: v1"), Some(json!(encoded)));
        assert_eq!(value(KUBECONFIG, &text, &encoded), Some(json!(encoded)));
        assert_eq!(value("shootDomain", &text, "a.example"), Some(json!("a.example")));
    }
}
