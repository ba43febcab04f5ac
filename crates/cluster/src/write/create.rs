//! POST: a new object.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Request, Writing};
use crate::{
    Status,
    cluster::Cluster,
    object::{is_deleting, map_mut, metadata_mut, name, text},
    status::Cause,
};

/// How often a generated name may be taken before we give up.
const TRIES: u32 = 8;

impl Cluster {
    /// Creates an object.
    pub(crate) fn create(&self, request: &Request, body: Value) -> Result<Arc<Value>, Status> {
        self.deciding(request, |writing| writing.create(body))
    }
}

impl Writing<'_> {
    pub(super) fn create(&mut self, mut object: Value) -> Result<Arc<Value>, Status> {
        self.fit(&mut object)?;
        let version = text(&object, &["metadata", "resourceVersion"]);
        // Only the store would mind, and a dry run does not get there.
        if !self.request.dry_run && version.is_some_and(|version| !version.is_empty()) {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::bad_request(message));
        }
        self.name(&mut object)?;
        self.check_namespace(&object)?;
        let name = name(&object).to_owned();
        let taken = self.state.get(&self.resource(), &self.request.namespace, &name).cloned();
        // Only the store minds a name that is taken: what breaks a rule is refused before.
        let made = self.settle(None, object, false)?;
        let Some(taken) = taken else { return Ok(made) };
        let mut status = Status::already_exists(&self.request.kind, &name);
        if is_deleting(&taken) {
            status.message.insert_str(0, "object is being deleted: ");
        }
        Err(status)
    }

    /// Checks that the body belongs to the path, and fills in what only the path says.
    pub(super) fn fit(&self, object: &mut Value) -> Result<(), Status> {
        let (kind, request) = (&self.request.kind, self.request);
        let expected = [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())];
        for (key, expected) in expected {
            let given = map_mut(object)?.entry(key).or_insert_with(|| json!(expected));
            if *given != expected {
                let message = format!(
                    "the {key} in the data ({given}) does not match the expected {key} ({expected:?})"
                );
                return Err(Status::bad_request(message));
            }
        }
        let metadata = metadata_mut(object)?;
        for (key, expected) in [("name", &request.name), ("namespace", &request.namespace)] {
            let given = metadata.get(key).and_then(Value::as_str).unwrap_or_default();
            if !given.is_empty() && !expected.is_empty() && given != expected {
                let message = format!(
                    "the {key} of the object ({given}) does not match the {key} on the URL ({expected})"
                );
                return Err(Status::bad_request(message));
            }
            if !expected.is_empty() {
                metadata.insert(key.to_owned(), json!(expected));
            }
        }
        if !kind.namespaced {
            metadata.shift_remove("namespace");
        }
        Ok(())
    }

    fn name(&self, object: &mut Value) -> Result<(), Status> {
        if !name(object).is_empty() {
            return Ok(());
        }
        let request = self.request;
        let prefix = text(object, &["metadata", "generateName"]).unwrap_or_default().to_owned();
        if prefix.is_empty() {
            let cause = Cause::required("metadata.name", "name or generateName is required");
            return Err(Status::invalid(&request.kind, "", &[cause]));
        }
        let version = self.draft.next_version().to_string();
        let generated = (0..TRIES).find_map(|attempt| {
            let about = ["name", &self.cluster.uid, &version, &attempt.to_string()];
            let name = format!("{prefix}{}", self.cluster.ids.suffix(&about));
            let taken = self.state.get(&self.resource(), &request.namespace, &name).is_some();
            (!taken).then_some(name)
        });
        let generated = generated.ok_or_else(|| Status::already_exists(&request.kind, &prefix))?;
        metadata_mut(object)?.insert("name".to_owned(), json!(generated));
        Ok(())
    }

    pub(super) fn check_namespace(&self, object: &Value) -> Result<(), Status> {
        let request = self.request;
        if !request.kind.namespaced {
            return Ok(());
        }
        let inside = &request.namespace;
        let Some(namespace) = self.state.get("namespaces", "", inside) else {
            let namespaces = self.state.kinds.by_resource("namespaces");
            return Err(Status::not_found(namespaces.unwrap_or(&request.kind), inside));
        };
        if is_deleting(namespace) {
            let why = format!(
                "unable to create new content in namespace {inside} because it is being terminated"
            );
            let message = format!("namespace {inside} is being terminated");
            let cause = Cause {
                reason: "NamespaceTerminating",
                field: "metadata.namespace".into(),
                message,
            };
            return Err(Status::forbidden(&request.kind, name(object), &why).because(&[cause]));
        }
        Ok(())
    }
}
