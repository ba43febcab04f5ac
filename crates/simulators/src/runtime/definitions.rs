//! Definitions of the runtimes' kinds, for API servers that lack them.

use serde_json::{Value, json};

/// `CustomResourceDefinitions` of connections, installations, service instances and bindings.
pub fn definitions() -> Vec<Value> {
    let mut all = vec![connection(), installation()];
    all.extend(services());
    all
}

/// The kinds of the BTP operator: bindings and instances.
pub(super) fn services() -> Vec<Value> {
    let column = |name: &str, path: &str| json!({"name": name, "type": "string", "jsonPath": path});
    let columns =
        json!([column("Instance", ".spec.serviceInstanceName"), column("Ready", ".status.ready")]);
    let all = [("servicebindings", "ServiceBinding"), ("serviceinstances", "ServiceInstance")];
    all.map(|names| {
        let mut one = definition("services.cloud.sap.com", names, "Namespaced", &columns, true);
        one["spec"]["versions"][0]["name"] = json!("v1");
        one
    })
    .into()
}

fn connection() -> Value {
    let state = json!({"name": "State", "type": "string", "jsonPath": ".status.connectionState"});
    // Without a status subresource, as the agent's own definition has it.
    definition(
        "compass.kyma-project.io",
        ("compassconnections", "CompassConnection"),
        "Cluster",
        &json!([state]),
        false,
    )
}

/// The definition of installations.
pub(super) fn installation() -> Value {
    let column = |name: &str, path: &str| json!({"name": name, "type": "string", "jsonPath": path});
    let columns = json!([
        column("State", ".status.state"),
        column("Description", ".status.description"),
        column("Version", ".status.kymaVersion"),
    ]);
    let names = ("installations", "Installation");
    definition("installer.kyma-project.io", names, "Namespaced", &columns, true)
}

fn definition(
    group: &str,
    (plural, kind): (&str, &str),
    scope: &str,
    columns: &Value,
    status: bool,
) -> Value {
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut version = json!({
        "name": "v1alpha1",
        "served": true,
        "storage": true,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "properties": {"spec": anything, "status": anything},
        }},
    });
    if status {
        version["subresources"] = json!({"status": {}});
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            "labels": {"app.kubernetes.io/part-of": "landscape"},
        },
        "spec": {
            "group": group,
            "scope": scope,
            "names": {
                "plural": plural,
                "singular": kind.to_lowercase(),
                "kind": kind,
                "listKind": format!("{kind}List"),
            },
            "versions": [version],
        },
    })
}
