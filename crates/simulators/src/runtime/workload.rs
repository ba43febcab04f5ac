//! Deployments as Kyma's components have them. Nothing runs: they only say that they are ready.

use serde_json::{Value, json};

/// The Deployment of one version of a component.
pub(crate) fn deployment(component: &str, namespace: &str, version: &str) -> Value {
    let app = json!({"app.kubernetes.io/name": component});
    let image = format!("europe-docker.pkg.dev/kyma-project/prod/{component}:{version}");
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": component, "namespace": namespace, "labels": {
            "app.kubernetes.io/name": component,
            "app.kubernetes.io/version": version,
        }},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": app},
            "template": {
                "metadata": {"labels": app},
                "spec": {"containers": [{"name": component, "image": image}]},
            },
        },
        "status": {"replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "availableReplicas": 1},
    })
}
