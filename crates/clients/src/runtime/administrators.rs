//! Administrators of a runtime: one role binding per person.

use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use serde_json::{Value, json};

use super::{CLUSTER_ROLE_BINDINGS, MANAGED_BY, Runtime};
use crate::error::Error;

/// Marks the bindings of administrators, and nobody else's.
const TYPE: (&str, &str) = ("type", "admin");

impl Runtime {
    /// Makes exactly these people administrators. Bindings of people who are not named any more go;
    /// bindings that are not ours stay.
    pub async fn set_administrators(&self, users: &[String]) -> Result<(), Error> {
        let bindings = self.cluster.objects::<ClusterRoleBinding>(CLUSTER_ROLE_BINDINGS, None);
        let wanted: Vec<_> = users
            .iter()
            .enumerate()
            .map(|(at, user)| (format!("administrator{at}"), user))
            .collect();
        for (name, user) in &wanted {
            bindings.apply(name, &self.owner, &binding(name, user)).await?;
        }
        // Last, so that nobody who stays an administrator is without a binding in between.
        let ours = format!("{}={},{}={}", MANAGED_BY.0, MANAGED_BY.1, TYPE.0, TYPE.1);
        for found in bindings.list(&ours).await? {
            let name = found.metadata.name.unwrap_or_default();
            if !wanted.iter().any(|(wanted, _)| *wanted == name) {
                bindings.delete(&name, found.metadata.uid.as_deref()).await?;
            }
        }
        Ok(())
    }

    /// The administrators according to our role bindings.
    pub async fn administrators(&self) -> Result<Vec<String>, Error> {
        let bindings = self.cluster.objects::<ClusterRoleBinding>(CLUSTER_ROLE_BINDINGS, None);
        let ours = format!("{}={},{}={}", MANAGED_BY.0, MANAGED_BY.1, TYPE.0, TYPE.1);
        let found = bindings.list(&ours).await?;
        let subjects = found.into_iter().flat_map(|binding| binding.subjects.unwrap_or_default());
        Ok(subjects.map(|subject| subject.name).collect())
    }
}

fn binding(name: &str, user: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": {MANAGED_BY.0: MANAGED_BY.1, TYPE.0: TYPE.1, "app": "kyma"}},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}
