//! The templates of Kymas that operators put into the control plane.

use cluster::{Server, Status};
use serde_json::{Map, Value, json};

/// The versions of Kyma whose templates these are, where templates are found by version.
const VERSIONS: [&str; 5] = ["1.24.11", "2.9.3", "2.10.0", "2.11.0", "main"];

const TEMPLATE: &str = "\
kyma-template: |-
  apiVersion: operator.kyma-project.io/v1beta2
  kind: Kyma
  metadata:
    name: tbd
    namespace: NAMESPACE
  spec:
    channel: CHANNEL
    modules:
    - name: istio
    - name: api-gateway
    - name: btp-operator
additional-components: []
";

/// Puts the templates into a namespace of a cluster.
pub(crate) fn furnish(server: &Server, cluster: &str, namespace: &str) -> Result<(), Status> {
    let versions = VERSIONS.iter().map(|one| format!("runtime-version-{one}"));
    let labels: Map<String, Value> =
        versions.chain(["keb-config".into()]).map(|label| (label, json!("true"))).collect();
    let template = |channel| TEMPLATE.replace("NAMESPACE", namespace).replace("CHANNEL", channel);
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": super::TEMPLATES, "namespace": namespace, "labels": labels},
        "data": {"default": template("regular"), "preview": template("fast")},
    });
    server.apply(cluster, "landscape", &map).map(drop)
}
