//! Gardener's kinds, for our own API server and as definitions for any other.

use cluster::{Column, Kind, Source};
use serde_json::{Value, json};

use super::{schema, version::Version};

pub(super) const CORE: &str = "core.gardener.cloud";
const SECURITY: &str = "security.gardener.cloud";
pub(super) const SHOOTS: &str = "shoots.core.gardener.cloud";
pub(super) const SEEDS: &str = "seeds.core.gardener.cloud";
pub(super) const PROFILES: &str = "cloudprofiles.core.gardener.cloud";
pub(super) const QUOTAS: &str = "quotas.core.gardener.cloud";
pub(super) const EXPOSURE_CLASSES: &str = "exposureclasses.core.gardener.cloud";
pub(super) const SECRET_BINDINGS: &str = "secretbindings.core.gardener.cloud";
pub(super) const CREDENTIALS_BINDINGS: &str = "credentialsbindings.security.gardener.cloud";

/// All of them, with the fields of a version of Gardener.
pub(super) fn all(version: Version) -> Vec<Kind> {
    vec![
        Kind { schema: Some(schema::shoot(version).open_api()), ..shoot() },
        Kind::new(CORE, "v1beta1", "projects", "Project")
            .subresource("status")
            .column(Column::text("Namespace", ".spec.namespace"))
            .column(Column::text("Status", ".status.phase")),
        Kind::new(CORE, "v1beta1", "secretbindings", "SecretBinding")
            .namespaced()
            .short("sb")
            .strategic(&[])
            .column(Column::text("Provider", ".provider.type"))
            .column(Column::text("Secret", ".secretRef.name")),
        Kind::new(CORE, "v1beta1", "quotas", "Quota")
            .namespaced()
            .short("squota")
            .column(Column::text("Scope", ".spec.scope.kind")),
        Kind::new(CORE, "v1beta1", "seeds", "Seed")
            .subresource("status")
            .column(Column::text("Provider", ".spec.provider.type"))
            .column(Column::text("Region", ".spec.provider.region"))
            .column(Column::text(
                "Ready",
                r#".status.conditions[?(@.type=="GardenletReady")].status"#,
            )),
        Kind::new(CORE, "v1beta1", "cloudprofiles", "CloudProfile")
            .short("cprofile")
            .column(Column::text("Type", ".spec.type")),
        Kind::new(CORE, "v1beta1", "exposureclasses", "ExposureClass")
            .short("expclass")
            .column(Column::text("Handler", ".handler")),
        Kind::new(SECURITY, "v1alpha1", "credentialsbindings", "CredentialsBinding")
            .namespaced()
            .column(Column::text("Provider", ".provider.type"))
            .column(Column::text("Credentials", ".credentialsRef.name")),
    ]
}

fn shoot() -> Kind {
    let status = r".metadata.labels.shoot\.gardener\.cloud/status";
    Kind::new(CORE, "v1beta1", "shoots", "Shoot")
        .namespaced()
        .subresource("status")
        .subresource("adminkubeconfig")
        .subresource("binding")
        .strategic(&[
            ("workers", "name"),
            ("providers", "type"),
            ("admissionPlugins", "name"),
            ("tolerations", "key"),
            ("conditions", "type"),
            ("constraints", "type"),
            ("advertisedAddresses", "name"),
        ])
        .column(Column::text("CloudProfile", ".spec.cloudProfileName"))
        .column(Column::text("Provider", ".spec.provider.type"))
        .column(Column::text("Region", ".spec.region"))
        .column(Column::text("K8S Version", ".spec.kubernetes.version"))
        .column(Column::text("Hibernation", ".spec.hibernation.enabled"))
        .column(Column::text("Last Operation", ".status.lastOperation.type"))
        .column(Column::text("State", ".status.lastOperation.state"))
        .column(Column::integer("Progress", ".status.lastOperation.progress"))
        .column(Column::text("Status", status))
        .column(Column::age("Age", ".metadata.creationTimestamp"))
        .column(Column::text("Purpose", ".spec.purpose").wide())
        .column(Column::text("Seed", ".spec.seedName").wide())
        .column(Column::text("Description", ".status.lastOperation.description").wide())
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
    let Source::Path(path) = &column.source else { return None };
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
        assert_eq!(shoot["additionalPrinterColumns"][3]["jsonPath"], ".spec.kubernetes.version");
        assert!(shoot["subresources"]["status"].is_object());
    }
}
