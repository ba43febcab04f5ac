//! Roles of our own operators in a runtime: read access, or full access.

use serde_json::{Value, json};

use super::{CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, MANAGED_BY, Runtime};
use crate::error::Error;

/// The groups that operators are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// The group with read access.
    pub looking: String,
    /// The group with full access.
    pub acting: String,
}

impl Default for Groups {
    fn default() -> Self {
        Self { looking: "runtimeOperator".into(), acting: "runtimeAdmin".into() }
    }
}

impl Runtime {
    /// Makes the roles of operators and binds their groups to them. Repeating it changes nothing.
    pub async fn ensure_operators(&self, groups: &Groups) -> Result<(), Error> {
        let roles = self.cluster.objects::<Value>(CLUSTER_ROLES, None);
        for (name, mut role) in roles_of_operators() {
            role["metadata"] = json!({"name": name, "labels": labels_of(name)});
            roles.apply(name, &self.owner, &role).await?;
        }
        let bindings = self.cluster.objects::<Value>(CLUSTER_ROLE_BINDINGS, None);
        for (name, group, role) in [
            ("l2-operator", groups.looking.as_str(), "l2-operator"),
            ("l3-operator-admin", groups.acting.as_str(), "cluster-admin"),
        ] {
            bindings.apply(name, &self.owner, &binding(name, group, role)).await?;
        }
        Ok(())
    }
}

fn roles_of_operators() -> [(&'static str, Value); 2] {
    let matching = |label: &str| json!({"matchLabels": {label: "true"}});
    let gathered = json!({
        "aggregationRule": {"clusterRoleSelectors": [
            matching("rbac.authorization.k8s.io/aggregate-to-edit"),
            matching(GATHERED),
        ]},
    });
    let looking = json!({
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}],
    });
    [("l2-operator", gathered), ("l2-operator-rules", looking)]
}

/// Roles with this label become part of the gathered one.
const GATHERED: &str = "rbac.authorization.k8s.io/aggregate-to-l2-operator";

fn labels_of(role: &str) -> Value {
    if role == "l2-operator-rules" {
        json!({"app": "kyma", GATHERED: "true"})
    } else {
        json!({"app": "kyma"})
    }
}

fn binding(name: &str, group: &str, role: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"app": "kyma", MANAGED_BY.0: MANAGED_BY.1}},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}],
    })
}
