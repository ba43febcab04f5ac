//! Discovery: groups, versions and kinds.

use serde_json::{Value, json};

use crate::{Kind, Status, kinds::Kinds};

const VERBS: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Which Kubernetes this pretends to be; `version` is written as in `1.32.4`.
pub(crate) fn version(version: &str) -> Value {
    let mut parts = version.split('.');
    json!({
        "major": parts.next(),
        "minor": parts.next(),
        "gitVersion": format!("v{version}"),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}

/// The paths a person would try.
pub(crate) fn root() -> Value {
    json!({"paths": ["/api", "/api/v1", "/apis", "/healthz", "/openapi/v2", "/openapi/v3", "/version"]})
}

/// The versions of the core group.
pub(crate) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// All named groups.
pub(crate) fn groups(kinds: &Kinds) -> Value {
    let groups = kinds.groups().into_iter().filter(|(name, _)| !name.is_empty());
    let groups: Vec<Value> = groups.map(|(name, versions)| describe(name, &versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// One named group.
pub(crate) fn group(kinds: &Kinds, name: &str) -> Result<Value, Status> {
    let groups = kinds.groups();
    let versions = groups.get(name).ok_or_else(Status::no_such_path)?;
    let mut group = describe(name, versions);
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    Ok(group)
}

fn describe(name: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions.first()})
}

/// The kinds of a group in a version.
pub(crate) fn kinds(kinds: &Kinds, group: &str, version: &str) -> Result<Value, Status> {
    let found: Vec<_> =
        kinds.all().filter(|kind| kind.group == group && kind.version == version).collect();
    let first = found.first().ok_or_else(Status::no_such_path)?;
    let resources: Vec<Value> = found.iter().flat_map(|kind| resources(kind)).collect();
    Ok(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": first.api_version(),
        "resources": resources,
    }))
}

fn resources(kind: &Kind) -> Vec<Value> {
    let mut main = json!({
        "name": kind.plural,
        "singularName": kind.singular(),
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": VERBS,
    });
    for (key, words) in [("shortNames", &kind.short_names), ("categories", &kind.categories)] {
        if !words.is_empty() {
            main[key] = json!(words);
        }
    }
    let below = kind.subresources.iter().map(|subresource| {
        let written = matches!(subresource.as_str(), "status" | "scale");
        let verbs = if written { &["get", "patch", "update"][..] } else { &["create"] };
        let mut below = json!({
            "name": format!("{}/{subresource}", kind.plural),
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": verbs,
        });
        if subresource == "scale" {
            (below["group"], below["version"]) = (json!("autoscaling"), json!("v1"));
            below["kind"] = json!("Scale");
        }
        below
    });
    std::iter::once(main).chain(below).collect()
}
