//! Objects in the control plane's cluster for the broker: overrides of Kyma's defaults.
//!
//! Nothing that is there is overwritten, so what was changed since stays changed.

use cluster::{Server, Status};
use serde_json::{Map, Value, json};

use crate::runtime::releases::VERSIONS;

const PLANS: [&str; 9] =
    ["azure", "azure_lite", "aws", "gcp", "openstack", "trial", "free", "own_cluster", "preview"];
/// Who put it there, in the managed fields.
const MANAGER: &str = "landscape";

/// Puts the overrides, and a mapping of accounts to versions that maps nobody, into a namespace of a cluster.
pub(crate) fn furnish(server: &Server, cluster: &str, namespace: &str) -> Result<(), Status> {
    for (resource, object) in objects(namespace) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        if server.get(cluster, resource, namespace, name).is_none() {
            server.apply(cluster, MANAGER, &object)?;
        }
    }
    Ok(())
}

fn objects(namespace: &str) -> Vec<(&'static str, Value)> {
    let plans = PLANS.iter().map(|plan| format!("overrides-plan-{plan}"));
    let versions = VERSIONS.iter().map(|version| format!("overrides-version-{version}"));
    let everywhere: Map<String, Value> =
        plans.chain(versions).map(|label| (label, json!("true"))).collect();
    let map = |name: &str, labels: Map<String, Value>, data: Value| {
        let metadata = json!({"name": name, "namespace": namespace, "labels": labels});
        (
            "configmaps",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}),
        )
    };
    let of_component = |component: &str| {
        let mut labels = everywhere.clone();
        labels.insert("component".into(), json!(component));
        labels
    };
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": "overrides-logging", "namespace": namespace,
            "labels": {"runtime-override": "true", "component": "logging"},
        },
        "stringData": {"fluent-bit.output.password": "landscape"},
    });
    vec![
        map(
            "overrides",
            everywhere.clone(),
            json!({
                "global.landscape": "simulated", "global.highPriorityClassName": "kyma-system-priority",
            }),
        ),
        map(
            "overrides-monitoring",
            of_component("monitoring"),
            json!({
                "grafana.persistence.enabled": "true", "prometheus.retention": "1d",
            }),
        ),
        ("secrets", secret),
        map("kyma-versions", Map::new(), json!({})),
    ]
}
