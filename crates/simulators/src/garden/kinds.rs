//! Gardener's kinds, for our own API server and as definitions for any other.

mod columns;

use cluster::{Column, Kind, Source};
use serde_json::{Value, json};

use super::{schema, version::Version};

pub(super) const CORE: &str = "core.gardener.cloud";
pub(super) const SECURITY: &str = "security.gardener.cloud";
pub(super) const SHOOTS: &str = "shoots.core.gardener.cloud";
pub(super) const PROJECTS: &str = "projects.core.gardener.cloud";
pub(super) const SEEDS: &str = "seeds.core.gardener.cloud";
pub(super) const PROFILES: &str = "cloudprofiles.core.gardener.cloud";
pub(super) const QUOTAS: &str = "quotas.core.gardener.cloud";
pub(super) const EXPOSURE_CLASSES: &str = "exposureclasses.core.gardener.cloud";
pub(super) const SECRET_BINDINGS: &str = "secretbindings.core.gardener.cloud";
pub(super) const CREDENTIALS_BINDINGS: &str = "credentialsbindings.security.gardener.cloud";

/// All of them, with the fields of a version of Gardener.
pub(super) fn all(version: Version) -> Vec<Kind> {
    let core = |plural: &str, kind: &str| {
        let form = schema::object(kind, version);
        let described = described(Kind::new(CORE, "v1beta1", plural, kind), &form);
        merge_keys(described, version)
    };
    vec![
        shoot(version),
        with(core("projects", "Project").subresource("status"), columns::project()),
        uncounted(with(
            described(
                core("secretbindings", "SecretBinding").namespaced().short("sb"),
                &schema::secret_binding(),
            ),
            columns::secret_binding(),
        )),
        uncounted(with(core("quotas", "Quota").namespaced().short("squota"), columns::quota())),
        with(core("seeds", "Seed").subresource("status"), columns::seed(version)),
        uncounted(with(
            core("cloudprofiles", "CloudProfile").short("cprofile").short("cpfl"),
            vec![Column::text("Provider", ".spec.type")],
        )),
        uncounted(with(
            core("exposureclasses", "ExposureClass").short("expclass").short("expcls"),
            vec![Column::text("Handler", ".handler")],
        )),
        uncounted(with(
            described(
                Kind::new(SECURITY, "v1alpha1", "credentialsbindings", "CredentialsBinding")
                    .namespaced()
                    .strategic(&[]),
                &schema::credentials_binding(),
            ),
            columns::credentials_binding(),
        )),
    ]
}

/// Lets merges go through the lists of a kind item by item, each with the field that tells its items. Those of the spec are
/// in the schema.
fn merge_keys(kind: Kind, version: Version) -> Kind {
    let in_status: &[_] = match kind.kind.as_str() {
        "Project" => &[("status.conditions", "type")],
        "Seed" => &[("status.conditions", "type"), ("status.constraints", "type")],
        _ => &[],
    };
    let in_spec = schema::merge_keys_of(&kind.kind, version);
    let in_spec = in_spec.iter().map(|(list, key)| (list.as_str(), *key));
    let all: Vec<_> = in_spec.chain(in_status.iter().copied()).collect();
    kind.strategic(&all)
}

fn with(kind: Kind, columns: Vec<Column>) -> Kind {
    columns.into_iter().fold(kind, Kind::column)
}

fn described(kind: Kind, form: &schema::Form) -> Kind {
    Kind { schema: Some(form.open_api()), ..kind }
}

/// Gardener gives these no `metadata.generation`.
fn uncounted(kind: Kind) -> Kind {
    Kind { counts_generations: false, ..kind }
}

/// The lists of a Shoot's status and the fields that tell their items: the schema has the spec only.
const STATUS_LISTS: [(&str, &str); 3] = [
    ("status.conditions", "type"),
    ("status.constraints", "type"),
    ("status.advertisedAddresses", "name"),
];

fn shoot(version: Version) -> Kind {
    let lists = [schema::merge_keys(version), STATUS_LISTS.to_vec()].concat();
    let kind = Kind::new(CORE, "v1beta1", "shoots", "Shoot")
        .namespaced()
        .subresource("status")
        .subresource("adminkubeconfig")
        .subresource("binding")
        .strategic(&lists);
    let kind = if version < Version::V1_117 { kind } else { kind.subresource("viewerkubeconfig") };
    let (schema, categories) = (Some(schema::shoot(version).open_api()), vec!["all".to_owned()]);
    with(Kind { schema, categories, ..kind }, columns::shoot())
}

/// `CustomResourceDefinition`s of the garden's kinds, for an API server that lacks them.
///
/// They have no `adminkubeconfig`: that is no subresource a definition can have.
pub fn definitions() -> Vec<Value> {
    all(Version::default()).iter().map(definition).collect()
}

fn definition(kind: &Kind) -> Value {
    let age = Column::age("Age", ".metadata.creationTimestamp");
    let has_age = kind.columns.iter().any(|column| column.source == age.source);
    let columns = kind.columns.iter().chain((!has_age).then_some(&age));
    let columns: Vec<Value> = columns.filter_map(column).collect();
    let has_status = kind.subresources.iter().any(|sub| sub == "status");
    let mut version = json!({
        "name": kind.version,
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
        }},
        "additionalPrinterColumns": columns,
    });
    if has_status {
        version["subresources"] = json!({"status": {}});
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": kind.resource(),
            "labels": {"app.kubernetes.io/part-of": "landscape"},
        },
        "spec": {
            "group": kind.group,
            "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
            "names": {
                "plural": kind.plural,
                "singular": kind.singular(),
                "kind": kind.kind,
                "listKind": format!("{}List", kind.kind),
                "shortNames": kind.short_names,
            },
            "versions": [version],
        },
    })
}

fn column(column: &Column) -> Option<Value> {
    let (Source::Path(path) | Source::Words(path, _)) = &column.source else { return None };
    let (name, form, priority) = (&column.name, &column.form, column.priority);
    Some(json!({"name": name, "type": form, "jsonPath": path, "priority": priority}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_definition_with_its_columns() {
        let definitions = definitions();

        let names: Vec<&str> =
            definitions.iter().filter_map(|one| one["metadata"]["name"].as_str()).collect();
        assert_eq!(names.len(), 8);
        assert!(names.contains(&SHOOTS) && names.contains(&CREDENTIALS_BINDINGS));
        let shoot = &definitions[0]["spec"]["versions"][0];
        assert_eq!(shoot["additionalPrinterColumns"][4]["jsonPath"], ".spec.kubernetes.version");
        assert_eq!(shoot["additionalPrinterColumns"][6]["name"], "Last Operation");
        assert!(shoot["subresources"]["status"].is_object());
    }
}
