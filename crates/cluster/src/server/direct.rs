//! Objects without HTTP, for the embedding program: to furnish clusters and to look into them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Server;
use crate::{
    FieldValidation, Identity, Status,
    cluster::Cluster,
    object::{name, namespace, text},
    write::{Patch, Preconditions, Request, Warnings},
};

impl Server {
    /// Applies an object, as `kubectl apply --server-side --force-conflicts` does; admission rules
    /// hold here too.
    pub fn apply(
        &self,
        cluster: &str,
        manager: &str,
        object: &Value,
    ) -> Result<Arc<Value>, Status> {
        let cluster = self.find(cluster)?;
        let request = request(&cluster, manager, object)?;
        Ok(cluster.patch(&request, Patch::Apply, object)?.0)
    }

    /// Applies an object with its status: first the one, then the other.
    pub fn apply_with_status(
        &self,
        cluster: &str,
        manager: &str,
        object: &Value,
    ) -> Result<Arc<Value>, Status> {
        let applied = self.apply(cluster, manager, object)?;
        let cluster = self.find(cluster)?;
        let request = request(&cluster, manager, object)?;
        if object["status"].is_null() || !request.kind.has_status() {
            return Ok(applied);
        }
        let request = Request { subresource: Some("status".to_owned()), ..request };
        Ok(cluster.patch(&request, Patch::Merge, &json!({"status": object["status"]}))?.0)
    }

    /// Deletes an object; the answer says whether it was there.
    pub fn remove(
        &self,
        cluster: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Result<bool, Status> {
        let cluster = self.find(cluster)?;
        let Some(found) = cluster.get(resource, namespace, name) else { return Ok(false) };
        let request = request(&cluster, "kube-apiserver", &found)?;
        cluster.delete(&request, &Preconditions::default())?;
        Ok(true)
    }

    /// One object; `resource` is named as in [`crate::Kind::resource`].
    pub fn get(
        &self,
        cluster: &str,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Option<Arc<Value>> {
        self.find(cluster).ok()?.get(resource, namespace, name)
    }

    /// All objects of a kind.
    pub fn list(&self, cluster: &str, resource: &str) -> Vec<Arc<Value>> {
        let Ok(cluster) = self.find(cluster) else { return Vec::new() };
        let state = cluster.state();
        state.list(resource, None).map(|(_, object)| Arc::clone(object)).collect()
    }
}

fn request(cluster: &Cluster, manager: &str, object: &Value) -> Result<Request, Status> {
    let word = |key: &str| text(object, &[key]).unwrap_or_default();
    let state = cluster.state();
    let kind = state.kinds.by_object(word("apiVersion"), word("kind"));
    let kind = kind.cloned().ok_or_else(|| {
        Status::bad_request(format!("there is no kind {} in {}", word("kind"), word("apiVersion")))
    })?;
    Ok(Request {
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        subresource: None,
        user: Identity::admin("system:apiserver"),
        manager: manager.to_owned(),
        force: true,
        dry_run: false,
        field_validation: FieldValidation::Ignore,
        warnings: Warnings::default(),
        kind,
    })
}

/// Creates the objects that every new cluster has.
pub(super) fn furnish(cluster: &Cluster) -> Result<(), Status> {
    for name in ["default", "kube-system", "kube-public"] {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let request = request(cluster, "kube-apiserver", &object)?;
        cluster.patch(&request, Patch::Apply, &object)?;
    }
    Ok(())
}
