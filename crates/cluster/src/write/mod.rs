//! Creating, changing and deleting objects.
//!
//! All of it runs inside of [`Cluster::write`]: against a state that cannot change meanwhile, with
//! changes that are made together or not at all.

mod change;
mod create;
mod delete;
mod settle;

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    FieldValidation, Identity, Kind, Status,
    apply::Manager,
    cluster::{Cluster, Draft},
    kind::MergeKeys,
    object::{has_finalizers, name},
    store::State,
};

pub(crate) use change::{Patch, present, undecodable};
pub(crate) use delete::{DeleteResult, Preconditions};

/// A request to write: its caller and its object.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) kind: Arc<Kind>,
    /// Empty for objects of the whole cluster.
    pub(crate) namespace: String,
    /// Empty for collections.
    pub(crate) name: String,
    pub(crate) subresource: Option<String>,
    pub(crate) user: Identity,
    /// The `fieldManager`.
    pub(crate) manager: String,
    /// Takes fields from their owners.
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
    pub(crate) field_validation: FieldValidation,
    pub(crate) warnings: Warnings,
}

/// Warnings for the caller; clones are the same list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    fn extend(&self, more: Vec<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(more);
    }

    /// Hands them out, once.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One write while it is decided.
struct Writing<'a> {
    cluster: &'a Cluster,
    state: &'a State,
    draft: &'a mut Draft,
    request: &'a Request,
    now: Timestamp,
}

impl Cluster {
    fn deciding<T>(
        &self,
        request: &Request,
        decide: impl FnOnce(&mut Writing<'_>) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let now = self.clock.now();
        self.write(request.dry_run, |state, draft| {
            decide(&mut Writing { cluster: self, state, draft, request, now })
        })
    }
}

impl Writing<'_> {
    fn resource(&self) -> String {
        self.request.kind.resource()
    }

    /// Whether nothing holds an object that is on its way out: no finalizer, and for a namespace no
    /// contents either.
    fn may_go(&self, object: &Value) -> bool {
        let gone = || self.state.everything().all(|(_, (inside, _), _)| inside != name(object));
        !has_finalizers(object) && (self.resource() != "namespaces" || gone())
    }

    fn live(&self) -> Result<Arc<Value>, Status> {
        let request = self.request;
        let found = self.state.get(&self.resource(), &request.namespace, &request.name);
        found.cloned().ok_or_else(|| Status::not_found(&request.kind, &request.name))
    }

    /// The lists of the kind whose items have keys.
    fn merge_keys(&self) -> &MergeKeys {
        self.request.kind.merge_keys.as_deref().unwrap_or_default()
    }

    fn manager(&self, applies: bool) -> Manager {
        Manager {
            name: self.request.manager.clone(),
            applies,
            api_version: self.request.kind.api_version(),
            subresource: self.request.subresource.clone(),
        }
    }
}
