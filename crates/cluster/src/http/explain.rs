//! Short descriptions of Kubernetes' own kinds, for `kubectl explain`.
//!
//! What a reader would get wrong: they only describe. Objects are not checked against them, so a field that is missing
//! here is allowed all the same.

use serde_json::{Map, Value, json};

use crate::Kind;

/// The parts that some kinds have besides the usual: kind, field, type, what it is.
const FIELDS: [(&str, &str, &str, &str); 26] = [
    ("Secret", "data", "object", "The values, in base64."),
    ("Secret", "stringData", "object", "Values in clear, to be written only."),
    ("Secret", "type", "string", "What the Secret is for."),
    ("ConfigMap", "data", "object", "The values."),
    ("ConfigMap", "binaryData", "object", "Values in base64."),
    ("ServiceAccount", "secrets", "array", "The Secrets that may be used."),
    ("Event", "involvedObject", "object", "The object that it is about."),
    ("Event", "reason", "string", "Why it happened, in a word."),
    ("Event", "message", "string", "What happened."),
    ("Role", "rules", "array", "What it allows."),
    ("ClusterRole", "rules", "array", "What it allows."),
    ("RoleBinding", "subjects", "array", "Who gets the role."),
    ("RoleBinding", "roleRef", "object", "The role."),
    ("ClusterRoleBinding", "subjects", "array", "Who gets the role."),
    ("ClusterRoleBinding", "roleRef", "object", "The role."),
    ("Endpoints", "subsets", "array", "Addresses and ports."),
    ("Lease", "spec", "object", "Who holds it, and for how long."),
    ("Deployment", "spec.replicas", "integer", "How many Pods there shall be."),
    ("Deployment", "spec.selector", "object", "Which Pods belong to it."),
    ("Deployment", "spec.template", "object", "What its Pods are like."),
    ("Deployment", "spec.strategy", "object", "How Pods are replaced by new ones."),
    ("Deployment", "status.readyReplicas", "integer", "How many Pods are ready."),
    ("StatefulSet", "spec.replicas", "integer", "How many Pods there shall be."),
    ("Pod", "spec.containers", "array", "The containers."),
    ("Pod", "spec.nodeName", "string", "The node that it runs on."),
    ("Node", "status.nodeInfo", "object", "What runs on the node."),
];

/// The kinds that have neither `spec` nor `status`.
const WITHOUT_SPEC: [&str; 9] = [
    "Secret",
    "ConfigMap",
    "ServiceAccount",
    "Event",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "Endpoints",
];

/// The schema of a kind that brings none.
pub(super) fn schema(kind: &Kind) -> Value {
    let mut properties = Map::new();
    let mut field = |name: &str, form: &str, text: &str| {
        properties.insert(name.to_owned(), described(form, text));
    };
    field("apiVersion", "string", "The group and version of the kind.");
    field("kind", "string", "The kind.");
    field("metadata", "object", "Name, namespace, labels, annotations and what the server keeps.");
    if !WITHOUT_SPEC.contains(&kind.kind.as_str()) {
        field("spec", "object", "What is wanted.");
        field("status", "object", "What is there.");
    }
    for (_, path, form, text) in FIELDS.iter().filter(|(owner, ..)| *owner == kind.kind) {
        match path.split_once('.') {
            None => drop(properties.insert((*path).to_owned(), described(form, text))),
            Some((part, name)) => {
                if let Some(part) = properties.get_mut(part) {
                    part["properties"][name] = described(form, text);
                }
            }
        }
    }
    json!({
        "type": "object",
        "description": format!("{} of {}.", kind.kind, kind.api_version()),
        "properties": properties,
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

fn described(form: &str, text: &str) -> Value {
    let mut field = json!({"type": form, "description": text});
    match form {
        "object" => field["x-kubernetes-preserve-unknown-fields"] = json!(true),
        "array" => {
            field["items"] =
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        }
        _ => {}
    }
    field
}
