//! DELETE: at once, or once everybody has let go.
//!
//! Owner references are stored but nothing is collected by them. A namespace takes its contents
//! along; a CRD takes its objects along at once, whether or not they have finalizers.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::{Request, Writing};
use crate::{
    Status,
    catalog::Verb,
    cluster::{Cluster, written},
    definitions,
    object::{has_finalizers, is_deleting, metadata_mut, name, namespace, text, version},
    selector::Selector,
};

/// How a deletion ended.
#[derive(Debug, Clone)]
pub(crate) enum DeleteResult {
    /// It is gone; this is what it was.
    Gone(Arc<Value>),
    /// It goes once its finalizers are removed.
    Going(Arc<Value>),
}

/// Preconditions of a deletion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
}

impl Cluster {
    /// Deletes one object.
    pub(crate) fn delete(
        &self,
        request: &Request,
        preconditions: &Preconditions,
    ) -> Result<DeleteResult, Status> {
        self.deciding(request, |writing| {
            let live = writing.live()?;
            writing.check(preconditions, &live)?;
            let going = writing.admit_deletion(&live)?;
            writing.delete(&going)
        })
    }

    /// Deletes everything that is selected; a refusal of one is a refusal of all.
    pub(crate) fn delete_collection(
        &self,
        request: &Request,
        selector: &Selector,
    ) -> Result<Vec<Arc<Value>>, Status> {
        let inside = (!request.namespace.is_empty()).then_some(request.namespace.as_str());
        self.deciding(request, |writing| {
            let all = writing.state.list(&writing.resource(), inside);
            let selected: Vec<_> = all.map(|(_, object)| Arc::clone(object)).collect();
            let selected = selected.into_iter().filter(|object| selector.matches(object));
            selected
                .map(|object| {
                    let going = writing.admit_deletion(&object)?;
                    writing.delete(&going)?;
                    Ok(object)
                })
                .collect()
        })
    }
}

impl Writing<'_> {
    fn check(&self, preconditions: &Preconditions, live: &Value) -> Result<(), Status> {
        let failed = |what: &str, wanted: &str, found: &str| {
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
            );
            Err(Status::conflict(&self.request.kind, name(live), &why))
        };
        let uid = text(live, &["metadata", "uid"]).unwrap_or_default();
        match preconditions {
            Preconditions { uid: Some(wanted), .. } if wanted != uid => failed("UID", wanted, uid),
            Preconditions { version: Some(wanted), .. } if wanted != version(live) => {
                failed("ResourceVersion", wanted, version(live))
            }
            _ => Ok(()),
        }
    }

    /// The object as the rules let it go: they may put a finalizer on it, and nothing else.
    fn admit_deletion(&self, live: &Arc<Value>) -> Result<Arc<Value>, Status> {
        let mut going = live.as_ref().clone();
        self.admit(Verb::Delete, Some(live), &mut going)?;
        let held = &going["metadata"]["finalizers"];
        if *held == live["metadata"]["finalizers"] || is_deleting(live) {
            return Ok(Arc::clone(live));
        }
        let mut holding = live.as_ref().clone();
        metadata_mut(&mut holding)?.insert("finalizers".to_owned(), held.clone());
        Ok(Arc::new(holding))
    }

    fn delete(&mut self, live: &Arc<Value>) -> Result<DeleteResult, Status> {
        match self.resource().as_str() {
            "namespaces" => self.delete_namespace(live),
            definitions::RESOURCE => {
                for kind in definitions::kinds(live).into_iter().take(1) {
                    let all = self.state.list(&kind.resource(), None);
                    let all: Vec<_> = all.map(|(_, object)| Arc::clone(object)).collect();
                    for object in all {
                        self.draft.remove(&kind.resource(), &object);
                    }
                }
                self.let_go(&self.resource(), live)
            }
            resource => self.let_go(resource, live),
        }
    }

    /// Removes the object, or marks it as terminating while it has finalizers.
    fn let_go(&mut self, resource: &str, live: &Arc<Value>) -> Result<DeleteResult, Status> {
        if !has_finalizers(live) {
            let last = self.draft.remove(resource, live);
            self.finish_namespace(namespace(live));
            return Ok(DeleteResult::Gone(last));
        }
        if is_deleting(live) {
            return Ok(DeleteResult::Going(Arc::clone(live)));
        }
        Ok(DeleteResult::Going(self.mark(resource, live)?))
    }

    fn mark(&mut self, resource: &str, live: &Value) -> Result<Arc<Value>, Status> {
        let mut going = live.clone();
        let metadata = metadata_mut(&mut going)?;
        metadata.insert("deletionTimestamp".to_owned(), json!(written(self.now)));
        metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(0));
        if let Some(generation) = metadata.get("generation").and_then(Value::as_i64) {
            metadata.insert("generation".to_owned(), json!(generation + 1));
        }
        if resource == "namespaces" {
            going["status"] = json!({"phase": "Terminating"});
        }
        Ok(self.draft.put(resource, going))
    }

    fn delete_namespace(&mut self, live: &Arc<Value>) -> Result<DeleteResult, Status> {
        if is_deleting(live) {
            return Ok(DeleteResult::Going(Arc::clone(live)));
        }
        let marked = self.mark("namespaces", live)?;
        let inside = name(live);
        let everything =
            self.state.everything().filter(|(_, (namespace, _), _)| namespace == inside);
        let everything: Vec<(String, Arc<Value>)> = everything
            .map(|(resource, _, object)| (resource.clone(), Arc::clone(object)))
            .collect();
        let mut staying = 0;
        for (resource, object) in everything {
            if !has_finalizers(&object) {
                self.draft.remove(&resource, &object);
                continue;
            }
            staying += 1;
            if !is_deleting(&object) {
                self.mark(&resource, &object)?;
            }
        }
        if staying > 0 || has_finalizers(live) {
            return Ok(DeleteResult::Going(marked));
        }
        Ok(DeleteResult::Gone(self.draft.remove("namespaces", &marked)))
    }

    /// Removes the object for good, after its last finalizer went.
    pub(super) fn remove(&mut self, object: &Value) -> Arc<Value> {
        let last = self.draft.remove(&self.resource(), object);
        self.finish_namespace(namespace(object));
        last
    }

    /// Removes a namespace on its way out as soon as nothing is left in it.
    fn finish_namespace(&mut self, inside: &str) {
        let Some(namespace) = self.state.get("namespaces", "", inside).filter(|n| is_deleting(n))
        else {
            return;
        };
        let removed: BTreeSet<(&str, &str, &str)> = self
            .draft
            .changes
            .iter()
            .filter(|change| change.object.is_none())
            .map(|c| (c.resource.as_str(), c.namespace.as_str(), c.name.as_str()))
            .collect();
        let empty = self.state.everything().all(|(resource, (namespace, name), _)| {
            namespace != inside || removed.contains(&(resource, namespace, name))
        });
        if empty && !has_finalizers(namespace) {
            self.draft.remove("namespaces", namespace);
        }
    }
}
