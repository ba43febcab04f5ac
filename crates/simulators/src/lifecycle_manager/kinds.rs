//! The kind Kyma in all its versions, for our own API server and as a definition for any other.

use cluster::{Column, Kind};
use kube::api::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

const GROUP: &str = "operator.kyma-project.io";
/// The first one is the one in which objects are kept.
const VERSIONS: [&str; 3] = ["v1beta2", "v1beta1", "v1alpha1"];

/// How `kube` speaks of Kymas.
pub(super) fn resource() -> ApiResource {
    let gvk = GroupVersionKind::gvk(GROUP, VERSIONS[0], "Kyma");
    ApiResource::from_gvk_with_plural(&gvk, "kymas")
}

/// The kind in every version that is served.
pub(super) fn all() -> Vec<Kind> {
    VERSIONS.map(kind).into()
}

fn kind(version: &str) -> Kind {
    Kind::new(GROUP, version, "kymas", "Kyma")
        .namespaced()
        .subresource("status")
        .column(Column::text("State", ".status.state"))
        .column(Column::age("Age", ".metadata.creationTimestamp"))
}

/// The `CustomResourceDefinition` of the kind, for an API server that lacks it.
pub fn definitions() -> Vec<Value> {
    let versions = VERSIONS.iter().map(|name| {
        json!({
            "name": name,
            "served": true,
            "storage": *name == VERSIONS[0],
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": spec(),
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
            "additionalPrinterColumns": [
                {"name": "State", "type": "string", "jsonPath": ".status.state"},
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
            ],
        })
    });
    vec![json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": super::KYMAS,
            "labels": {"app.kubernetes.io/part-of": "landscape"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": "kymas", "singular": "kyma", "kind": "Kyma", "listKind": "KymaList",
            },
            "versions": versions.collect::<Vec<_>>(),
        },
    })]
}

fn spec() -> Value {
    let channel = json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 3, "maxLength": 32});
    json!({
        "type": "object",
        "required": ["channel"],
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "channel": channel,
            "modules": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {
                        "name": {"type": "string"},
                        "channel": channel,
                        "customResourcePolicy": {
                            "type": "string",
                            "enum": ["CreateAndDelete", "Ignore"],
                            "default": "CreateAndDelete",
                        },
                        "managed": {"type": "boolean", "default": true},
                    },
                },
            },
        },
    })
}
