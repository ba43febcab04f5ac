//! Rules of quotas and projects.

use cluster::{Admission, Cause, Status, Verb};
use serde_json::{Value, json};

use super::{confirmed, invalid, list, name, text, unsupported};
use crate::garden::{kinds, version::Version};

/// What a quota can limit.
const METRICS: [&str; 6] =
    ["cpu", "gpu", "memory", "storage.standard", "storage.premium", "loadbalancer"];
/// The group of users.
const RBAC: &str = "rbac.authorization.k8s.io";
/// So long may the name of a project be.
const LONGEST_PROJECT: usize = 10;

/// Refuses a quota for anything but a project or credentials, one of something that is not counted, and one below zero.
pub(super) fn quota(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    if write.verb == Verb::Delete {
        return Ok(());
    }
    let mut causes = Vec::new();
    let spec = &write.object["spec"];
    if write.old.is_some_and(|old| old["spec"]["scope"] != spec["scope"]) {
        causes.push(Cause::invalid("spec.scope", &spec["scope"].to_string(), "field is immutable"));
    }
    let mut scopes = vec!["project", "secret"];
    if gardener >= Version::V1_117 {
        scopes.push("workloadidentity");
    }
    if !is_scope(&spec["scope"], gardener) {
        causes.push(unsupported("spec.scope", &spec["scope"].to_string(), scopes));
    }
    for (metric, amount) in spec["metrics"].as_object().into_iter().flatten() {
        let field = format!("spec.metrics[{metric}]");
        let amount = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
        if !METRICS.contains(&metric.as_str()) {
            let why = format!("{metric} is no supported quota metric");
            causes.push(Cause::invalid(field.clone(), &amount, &why));
        }
        if amount.strip_prefix('-').is_some_and(|rest| rest.contains(|c| ('1'..='9').contains(&c)))
        {
            let why = if gardener < Version::V1_117 {
                format!("{metric} value must not be negative")
            } else {
                "must be greater than or equal to 0".to_owned()
            };
            causes.push(Cause::invalid(field, &amount, &why));
        }
    }
    invalid(write, &causes)
}

fn is_scope(scope: &Value, gardener: Version) -> bool {
    let word = |key: &str| scope[key].as_str().unwrap_or_default();
    let (version, kind) = (word("apiVersion"), word("kind"));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    match kind {
        "Secret" => version == "v1",
        "Project" => group == kinds::CORE,
        "WorkloadIdentity" => group == kinds::SECURITY && gardener >= Version::V1_117,
        _ => false,
    }
}

/// Gives a project its creator, its owner and the owner as a member; refuses a name that is too long, another creator or
/// namespace, and a deletion that is not confirmed.
pub(super) fn project(write: &mut Admission<'_>) -> Result<(), Status> {
    if write.subresource.is_some() {
        return Ok(());
    }
    if write.verb == Verb::Delete {
        return confirmed(write);
    }
    complete(write);
    let mut causes = Vec::new();
    if name(write.object).len() > LONGEST_PROJECT {
        causes.push(Cause {
            reason: "FieldValueTooLong",
            field: "metadata.name".to_owned(),
            message: format!("Too long: may not be more than {LONGEST_PROJECT} bytes"),
        });
    }
    let (object, old) = (&*write.object, write.old.unwrap_or(&Value::Null));
    for key in ["createdBy", "namespace"] {
        let (before, now) = (&old["spec"][key], &object["spec"][key]);
        if !before.is_null() && before != now {
            let field = format!("spec.{key}");
            causes.push(Cause::invalid(field, &now.to_string(), "field is immutable"));
        }
    }
    if !old["spec"]["owner"].is_null() && object["spec"]["owner"].is_null() {
        causes.push(Cause::invalid("spec.owner", "null", "owner cannot be reset"));
    }
    for key in ["description", "purpose"] {
        if object["spec"][key] == "" {
            let why = format!("must provide a {key} when key is present");
            causes.push(Cause::required(format!("spec.{key}"), &why));
        }
    }
    invalid(write, &causes)
}

fn complete(write: &mut Admission<'_>) {
    let creator = subject(&write.user.user);
    let spec = &mut write.object["spec"];
    if spec.is_null() {
        *spec = json!({});
    }
    if write.verb == Verb::Create {
        if spec["owner"].is_null() {
            let owns = |member: &&Value| list(member, "/roles").iter().any(|role| role == "owner");
            let owner = list(spec, "/members").iter().find(owns).map(person);
            spec["owner"] = owner.unwrap_or_else(|| creator.clone());
        }
        spec["createdBy"] = creator;
    }
    if text(spec, "/owner/name").is_none() {
        return;
    }
    let is_user = ["User", "Group"].contains(&text(spec, "/owner/kind").unwrap_or_default());
    if is_user && text(spec, "/owner/apiGroup").is_none() {
        spec["owner"]["apiGroup"] = json!(RBAC);
    }
    let owner = person(&spec["owner"]);
    for member in spec["members"].as_array_mut().into_iter().flatten() {
        if person(member) != owner {
            disown(member);
        }
    }
    if list(spec, "/members").iter().any(|member| person(member) == owner) {
        return;
    }
    let mut member = owner;
    member["role"] = json!("admin");
    member["roles"] = json!(["owner"]);
    match &mut spec["members"] {
        Value::Array(members) => members.push(member),
        members => *members = json!([member]),
    }
}

/// Takes the role of the owner from a member.
fn disown(member: &mut Value) {
    let Some(member) = member.as_object_mut() else { return };
    if let Some(Value::Array(roles)) = member.get_mut("roles") {
        roles.retain(|role| role != "owner");
        if roles.is_empty() {
            member.shift_remove("roles");
        }
    }
}

fn subject(user: &str) -> Value {
    json!({"apiGroup": RBAC, "kind": "User", "name": user})
}

/// Who a member or an owner is, without the roles.
fn person(of: &Value) -> Value {
    let mut person = of.clone();
    if let Some(fields) = person.as_object_mut() {
        fields.retain(|key, _| !["role", "roles"].contains(&key.as_str()));
    }
    person
}
