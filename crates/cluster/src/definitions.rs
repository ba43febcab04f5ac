//! CRDs: what they define, what is wrong with them, and their status.
//!
//! Schemas are shown in `OpenAPI` but not enforced: objects of defined kinds are stored as they come.

use serde_json::{Value, json};

use crate::{
    Kind, Status,
    kind::{Column, Source},
    object::{name, text},
    status::Cause,
};

/// The kind of the definitions themselves.
pub(crate) const RESOURCE: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The kinds that a definition defines, one for each served version.
pub(crate) fn kinds(definition: &Value) -> Vec<Kind> {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    versions.filter(|version| version["served"] == true).map(|v| kind(spec, v)).collect()
}

fn kind(spec: &Value, version: &Value) -> Kind {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let words = |value: &Value| value.as_array().into_iter().flatten().map(word).collect();
    let names = &spec["names"];
    let mut kind = Kind::new(
        &word(&spec["group"]),
        &word(&version["name"]),
        &word(&names["plural"]),
        &word(&names["kind"]),
    );
    kind.short_names = words(&names["shortNames"]);
    kind.categories = words(&names["categories"]);
    kind.namespaced = spec["scope"] == "Namespaced";
    kind.subresources =
        version["subresources"].as_object().into_iter().flat_map(|s| s.keys().cloned()).collect();
    let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten();
    kind.columns = columns.map(column).collect();
    kind.schema = version["schema"].get("openAPIV3Schema").cloned();
    kind
}

fn column(column: &Value) -> Column {
    let word = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
    Column {
        name: word("name"),
        form: word("type"),
        priority: column["priority"].as_i64().unwrap_or(0),
        source: Source::Path(word("jsonPath")),
        missing: None,
    }
}

/// Checks a definition and fills in what Kubernetes would.
pub(crate) fn admit(kind: &Kind, definition: &mut Value, now: &str) -> Result<(), Status> {
    let spec = &definition["spec"];
    let required = ["group", "scope"].into_iter().filter(|key| text(spec, &[key]).is_none());
    let mut causes: Vec<Cause> =
        required.map(|key| Cause::required(format!("spec.{key}"), "")).collect();
    for key in ["plural", "kind"] {
        if text(spec, &["names", key]).is_none() {
            causes.push(Cause::required(format!("spec.names.{key}"), ""));
        }
    }
    let expected = format!(
        "{}.{}",
        spec["names"]["plural"].as_str().unwrap_or_default(),
        spec["group"].as_str().unwrap_or_default()
    );
    if causes.is_empty() && name(definition) != expected {
        let why = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", name(definition), why));
    }
    let versions = spec["versions"].as_array().into_iter().flatten();
    if versions.filter(|version| version["storage"] == true).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", "", why));
    }
    if !causes.is_empty() {
        return Err(Status::invalid(kind, name(definition), &causes));
    }
    complete(definition, now);
    Ok(())
}

fn complete(definition: &mut Value, now: &str) {
    let mut names = definition["spec"]["names"].clone();
    let word = names["kind"].as_str().unwrap_or_default().to_owned();
    for (key, value) in [("singular", word.to_lowercase()), ("listKind", format!("{word}List"))] {
        if names[key].is_null() {
            names[key] = json!(value);
        }
    }
    definition["spec"]["names"] = names.clone();
    let storage = definition["spec"]["versions"].as_array().into_iter().flatten();
    let storage: Vec<&Value> =
        storage.filter(|v| v["storage"] == true).map(|v| &v["name"]).collect();
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message});
    let mut status = json!({
        "acceptedNames": names,
        "storedVersions": storage,
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
    });
    // The conditions keep the time at which they became true.
    if let Some(before) = definition["status"].get("conditions").filter(|before| before.is_array())
    {
        status["conditions"] = before.clone();
    }
    definition["status"] = status;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_must_be_called_what_it_defines() {
        let kind = Kind::new("apiextensions.k8s.io", "v1", "customresourcedefinitions", "X");
        let mut definition = json!({
            "metadata": {"name": "wrong.example.org"},
            "spec": {
                "group": "example.org", "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true}],
            },
        });

        let refusal = admit(&kind, &mut definition, "now").unwrap_err();
        definition["metadata"]["name"] = json!("things.example.org");
        admit(&kind, &mut definition, "now").unwrap();

        assert_eq!(refusal.code, 422);
        assert_eq!(kinds(&definition)[0].resource(), "things.example.org");
        assert_eq!(definition["status"]["acceptedNames"]["listKind"], "ThingList");
    }
}
