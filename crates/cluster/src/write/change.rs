//! PUT and PATCH: an object that is there already, or is created by applying it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Request, Writing};
use crate::{
    Kind, Status,
    apply::{Conflict, apply, undeclared},
    cluster::{Cluster, written},
    object::{map_mut, metadata_mut, name, text, version},
    patch,
    status::Cause,
};

/// In which language a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patch {
    Merge,
    Json,
    Strategic,
    Apply,
}

impl Cluster {
    /// Replaces an object.
    pub(crate) fn replace(&self, request: &Request, body: Value) -> Result<Arc<Value>, Status> {
        self.deciding(request, |writing| writing.replace(body))
    }

    /// Patches an object; the flag says whether it is new.
    pub(crate) fn patch(
        &self,
        request: &Request,
        language: Patch,
        patch: &Value,
    ) -> Result<(Arc<Value>, bool), Status> {
        self.deciding(request, |writing| match language {
            Patch::Apply => writing.apply(patch),
            other => writing.patch(other, patch).map(|object| (object, false)),
        })
    }
}

impl Writing<'_> {
    fn replace(&mut self, mut object: Value) -> Result<Arc<Value>, Status> {
        self.fit(&mut object)?;
        let live = self.live()?;
        let kind = &self.request.kind;
        if version(&object).is_empty() && !kind.native {
            let why = "must be specified for an update";
            let cause = Cause::invalid("metadata.resourceVersion", "", why);
            return Err(Status::invalid(kind, name(&object), &[cause]));
        }
        self.check_version(&live, &object)?;
        self.settle(Some(&live), object, false)
    }

    fn patch(&mut self, language: Patch, patch: &Value) -> Result<Arc<Value>, Status> {
        let live = self.live()?;
        let mut object = present(&live, &self.request.kind);
        match language {
            Patch::Json => patch::json_patch(&mut object, patch)?,
            Patch::Strategic => {
                patch::strategic(&mut object, patch, self.merge_keys());
            }
            Patch::Merge | Patch::Apply => patch::merge(&mut object, patch),
        }
        self.fit(&mut object)?;
        self.check_version(&live, &object)?;
        self.settle(Some(&live), object, false).map_err(|status| undecodable(status, patch))
    }

    fn apply(&mut self, config: &Value) -> Result<(Arc<Value>, bool), Status> {
        let mut config = config.clone();
        self.check_type(&config)?;
        self.fit(&mut config)?;
        if config["metadata"].get("managedFields").is_some_and(|fields| !fields.is_null()) {
            return Err(Status::bad_request("metadata.managedFields must be nil"));
        }
        self.check_declared(&config)?;
        let live = self.state.get(&self.resource(), &self.request.namespace, &self.request.name);
        let live = live.cloned();
        match &live {
            Some(live) => self.check_version(live, &config)?,
            None if self.request.subresource.is_some() => {
                return Err(Status::not_found(&self.request.kind, &self.request.name));
            }
            None => self.check_namespace(&config)?,
        }
        let base = match &live {
            Some(live) => present(live, &self.request.kind),
            None => json!({
                "apiVersion": config["apiVersion"],
                "kind": config["kind"],
                "metadata": config["metadata"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(key, _)| *key == "name" || *key == "namespace")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect::<serde_json::Map<_, _>>(),
            }),
        };
        self.narrow(&mut config)?;
        let manager = self.manager(true);
        let now = written(self.now);
        let object =
            apply(&base, &config, self.merge_keys(), &manager, self.request.force, &now)
                .map_err(|conflicts| refuse(&self.request.kind, &self.request.name, &conflicts))?;
        Ok((self.settle(live.as_ref(), object, true)?, live.is_none()))
    }

    /// An applied configuration says itself what it is, whatever the path says.
    fn check_type(&self, config: &Value) -> Result<(), Status> {
        let given = |key: &str| text(config, &[key]).unwrap_or_default().to_owned();
        if given("apiVersion").is_empty() {
            let expected = self.request.kind.api_version();
            return Err(Status::bad_request(format!(
                "Incorrect version specified in apply patch. Specified patch version: , expected: {expected}"
            )));
        }
        if given("kind").is_empty() {
            return Err(Status::bad_request(format!("Object 'Kind' is missing in '{config}'")));
        }
        Ok(())
    }

    /// A kind with keyed lists has types of its own, and apply refuses what they do not have.
    fn check_declared(&self, config: &Value) -> Result<(), Status> {
        let kind = &self.request.kind;
        let schema = kind.schema.as_ref().filter(|_| kind.merge_keys.is_some());
        let Some(field) = schema.and_then(|schema| undeclared(schema, config)) else {
            return Ok(());
        };
        let inside = text(config, &["metadata", "namespace"]).unwrap_or_default();
        let message = format!(
            "failed to create typed patch object ({inside}/{}; {}, Kind={}): {field}: field not declared in schema",
            self.request.name,
            kind.api_version(),
            kind.kind,
        );
        Err(Status::new(500, "", message))
    }

    /// Leaves in an applied configuration only what this path can change.
    fn narrow(&self, config: &mut Value) -> Result<(), Status> {
        let config = map_mut(config)?;
        if self.request.subresource.is_some() {
            config.retain(|key, _| key == "status" || key == "apiVersion" || key == "kind");
        } else if self.request.kind.has_status() {
            config.shift_remove("status");
        }
        Ok(())
    }

    /// Optimistic locking: a version that is named must be the current one.
    fn check_version(&self, live: &Value, object: &Value) -> Result<(), Status> {
        let kind = &self.request.kind;
        let given = version(object);
        if !given.is_empty() && given.parse::<u64>().is_err() {
            let message = format!("strconv.ParseUint: parsing {given:?}: invalid syntax");
            return Err(Status::new(500, "", message));
        }
        if !given.is_empty() && given != version(live) {
            let why = "the object has been modified; please apply your changes to the latest version \
                       and try again";
            return Err(Status::conflict(kind, name(live), why));
        }
        let given = text(object, &["metadata", "uid"]).unwrap_or_default();
        let uid = text(live, &["metadata", "uid"]).unwrap_or_default();
        if !given.is_empty() && given != uid {
            let why = format!(
                "Precondition failed: UID in precondition: {given}, UID in object meta: {uid}"
            );
            return Err(Status::conflict(kind, name(live), &why));
        }
        Ok(())
    }
}

/// A patch that leads to something which cannot be decoded is invalid itself.
pub(crate) fn undecodable(status: Status, patch: &Value) -> Status {
    if status.code != 400 {
        return status;
    }
    let cause = Cause::invalid("patch", &patch.to_string(), &status.message);
    let message = format!(" \"\" is invalid: patch: {}", cause.message);
    Status::new(422, "Invalid", message).because(&[cause])
}

fn refuse(kind: &Kind, name: &str, conflicts: &[Conflict]) -> Status {
    let causes: Vec<Cause> = conflicts
        .iter()
        .map(|conflict| Cause {
            reason: "FieldManagerConflict",
            field: conflict.field.clone(),
            message: format!("conflict with {}", conflict.owner),
        })
        .collect();
    let said: Vec<String> =
        causes.iter().map(|cause| format!("{}: {}", cause.message, cause.field)).collect();
    let plural = if causes.len() == 1 { "" } else { "s" };
    let message =
        format!("Apply failed with {} conflict{plural}: {}", causes.len(), said.join("\n"));
    Status::new(409, "Conflict", message).about(kind, name).because(&causes)
}

/// The object in the version that was asked for. All versions of a kind have the same fields.
pub(crate) fn present(object: &Value, kind: &Kind) -> Value {
    let mut object = object.clone();
    if let Ok(map) = map_mut(&mut object) {
        map.insert("apiVersion".to_owned(), json!(kind.api_version()));
    }
    // So that patches can rely on it.
    let _ = metadata_mut(&mut object);
    object
}
