//! One cluster: its state, and the one way in which that changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::Clock;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    Catalog, Status,
    ids::Ids,
    object::{name, namespace},
    store::{Change, Log, Record, State},
};

/// A cluster that is being served.
pub(crate) struct Cluster {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) clock: Clock,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) ids: Ids,
    /// Ends the watches when the cluster or the server goes away.
    pub(crate) gone: CancellationToken,
    latest: watch::Sender<u64>,
    state: Mutex<State>,
    log: Arc<Log>,
}

/// Changes that are decided but not yet made.
#[derive(Default)]
pub(crate) struct Draft {
    version: u64,
    pub(crate) changes: Vec<Change>,
}

impl Draft {
    /// The version that the next change will have.
    pub(crate) fn next_version(&self) -> u64 {
        self.version + 1
    }

    /// Stores the object under the next version.
    pub(crate) fn put(&mut self, resource: &str, mut object: Value) -> Arc<Value> {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(object);
        self.note(resource, &object, Some(Arc::clone(&object)));
        object
    }

    /// Removes the object; what it was last is the answer.
    pub(crate) fn remove(&mut self, resource: &str, object: &Value) -> Arc<Value> {
        self.version += 1;
        let mut last = object.clone();
        last["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.note(resource, object, None);
        Arc::new(last)
    }

    fn note(&mut self, resource: &str, about: &Value, object: Option<Arc<Value>>) {
        let (namespace, name) = (namespace(about).to_owned(), name(about).to_owned());
        let (version, resource) = (self.version, resource.to_owned());
        self.changes.push(Change { version, resource, namespace, name, object });
    }
}

impl Cluster {
    pub(crate) fn new(
        name: &str,
        state: State,
        (clock, catalog, ids): (Clock, Arc<Catalog>, Ids),
        log: Arc<Log>,
        gone: CancellationToken,
    ) -> Self {
        let latest = watch::Sender::new(state.version);
        let uid = state.uid.clone();
        let name = name.to_owned();
        Self { name, uid, clock, catalog, ids, gone, latest, state: Mutex::new(state), log }
    }

    /// The state, for as long as the answer is held.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One object.
    pub(crate) fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.state().get(resource, namespace, name).cloned()
    }

    /// The latest version, and a way to wait for the next.
    pub(crate) fn latest(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// Decides on changes, writes them to the log and makes them, all under one lock. A dry run
    /// decides and forgets.
    pub(crate) fn write<T>(
        &self,
        dry_run: bool,
        decide: impl FnOnce(&State, &mut Draft) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let mut state = self.state();
        let mut draft = Draft { version: state.version, changes: Vec::new() };
        let answer = decide(&state, &mut draft)?;
        if dry_run || draft.changes.is_empty() {
            return Ok(answer);
        }
        let (cluster, uid) = (self.name.clone(), state.uid.clone());
        let record = Record::Changes { cluster, uid, changes: draft.changes };
        self.log.append(&record).map_err(|error| {
            tracing::error!(cluster = self.name, %error, "cannot write the cluster's log");
            Status::not_stored(&error)
        })?;
        if let Record::Changes { changes, .. } = record {
            for change in changes {
                state.apply(change);
            }
        }
        self.latest.send_replace(state.version);
        Ok(answer)
    }

    /// Says everything about this cluster in records, for a snapshot.
    pub(crate) fn snapshot(&self) -> Vec<Record> {
        let state = self.state();
        let (cluster, uid) = (self.name.clone(), state.uid.clone());
        let head =
            Record::Cluster { name: cluster.clone(), uid: uid.clone(), version: state.version };
        let objects = state.everything().map(|(resource, (namespace, name), object)| Change {
            version: 0,
            resource: resource.clone(),
            namespace: namespace.clone(),
            name: name.clone(),
            object: Some(Arc::clone(object)),
        });
        let body = objects.map(|change| Record::Changes {
            cluster: cluster.clone(),
            uid: uid.clone(),
            changes: vec![change],
        });
        std::iter::once(head).chain(body).collect()
    }
}

/// A time as Kubernetes writes it: whole seconds, in UTC.
pub(crate) fn written(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}
