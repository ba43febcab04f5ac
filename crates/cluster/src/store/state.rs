//! One cluster's objects and its recent history.
//!
//! Every change raises the version by one and makes one event, so the history is an unbroken run of
//! versions and a watcher is nothing but a number.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde_json::{Value, json};

use super::Change;
use crate::kinds::Kinds;

/// Namespace and name; the namespace is empty for objects of the whole cluster.
pub(crate) type Key = (String, String);

/// One change, as watchers see it.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) version: u64,
    pub(crate) resource: String,
    /// What was there before.
    pub(crate) before: Option<Arc<Value>>,
    /// What is there now, or what was there last.
    pub(crate) object: Arc<Value>,
    pub(crate) deleted: bool,
}

/// What a cluster is made of.
pub(crate) struct State {
    /// Tells this cluster from an earlier one of the same name.
    pub(crate) uid: String,
    /// The resourceVersion of the latest change.
    pub(crate) version: u64,
    pub(crate) kinds: Kinds,
    objects: BTreeMap<String, BTreeMap<Key, Arc<Value>>>,
    history: VecDeque<Event>,
    limit: usize,
}

impl State {
    /// An empty cluster; the version is where its counting starts.
    pub(crate) fn new(uid: String, version: u64, kinds: Kinds, limit: usize) -> Self {
        let (objects, history) = (BTreeMap::new(), VecDeque::new());
        Self { uid, version, kinds, objects, history, limit }
    }

    /// One object.
    pub(crate) fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.objects.get(resource)?.get(&(namespace.to_owned(), name.to_owned()))
    }

    /// All objects of a kind, in one namespace or in all, by namespace and name.
    pub(crate) fn list<'a>(
        &'a self,
        resource: &str,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> + use<'a> {
        let from = (namespace.unwrap_or_default().to_owned(), String::new());
        let all =
            self.objects.get(resource).into_iter().flat_map(move |all| all.range(from.clone()..));
        all.take_while(move |((inside, _), _)| namespace.is_none_or(|wanted| wanted == inside))
    }

    /// Everything there is.
    pub(crate) fn everything(&self) -> impl Iterator<Item = (&String, &Key, &Arc<Value>)> {
        self.objects.iter().flat_map(|(resource, objects)| {
            objects.iter().map(move |(key, object)| (resource, key, object))
        })
    }

    /// Makes a change that is in the log, and remembers it for watchers.
    pub(crate) fn apply(&mut self, change: Change) {
        // A snapshot may already contain what the log says again.
        if change.version <= self.version {
            return;
        }
        self.version = change.version;
        let before = self.put(&change);
        let (object, deleted) = match (change.object, &before) {
            (Some(object), _) => (object, false),
            (None, Some(before)) => (Arc::new(at_version(before, change.version)), true),
            (None, None) => (Arc::new(json!({})), true),
        };
        if change.resource == crate::definitions::RESOURCE {
            self.learn_kinds();
        }
        let (version, resource) = (change.version, change.resource);
        self.history.push_back(Event { version, resource, before, object, deleted });
        while self.history.len() > self.limit {
            self.history.pop_front();
        }
    }

    /// Takes an object from a snapshot: no event, no new version.
    pub(crate) fn restore(&mut self, change: &Change) {
        self.put(change);
        if change.resource == crate::definitions::RESOURCE {
            self.learn_kinds();
        }
    }

    fn put(&mut self, change: &Change) -> Option<Arc<Value>> {
        let objects = self.objects.entry(change.resource.clone()).or_default();
        let key = (change.namespace.clone(), change.name.clone());
        match &change.object {
            Some(object) => objects.insert(key, Arc::clone(object)),
            None => objects.remove(&key),
        }
    }

    fn learn_kinds(&mut self) {
        let defined = self.objects.get(crate::definitions::RESOURCE).into_iter().flatten();
        let defined = defined.flat_map(|(_, definition)| crate::definitions::kinds(definition));
        self.kinds.define(defined.collect());
    }

    /// Events after `version`, at most `limit` of them; nothing if some of them are forgotten or the
    /// version has never been reached.
    pub(crate) fn after(&self, version: u64, limit: usize) -> Option<Vec<Event>> {
        let oldest = self.version - self.history.len() as u64;
        if version < oldest || version > self.version {
            return None;
        }
        let skip = usize::try_from(version - oldest).ok()?;
        Some(self.history.iter().skip(skip).take(limit).cloned().collect())
    }
}

/// The same object under another resourceVersion.
pub(crate) fn at_version(object: &Value, version: u64) -> Value {
    let mut object = object.clone();
    object["metadata"]["resourceVersion"] = json!(version.to_string());
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(version: u64) -> Change {
        let object = Some(Arc::new(json!({"metadata": {"name": "a"}})));
        let (namespace, name) = (String::new(), "a".to_owned());
        Change { version, resource: "nodes".into(), namespace, name, object }
    }

    #[test]
    fn history_is_bounded_and_says_when_it_has_forgotten() {
        let mut state = State::new("u".into(), 0, Kinds::default(), 3);
        (1..=5).for_each(|version| state.apply(change(version)));

        let versions = |after| {
            let events = state.after(after, 10);
            events.map(|events| events.iter().map(|event| event.version).collect::<Vec<_>>())
        };

        assert_eq!(versions(1), None);
        assert_eq!(versions(2), Some(vec![3, 4, 5]));
        assert_eq!(versions(5), Some(vec![]));
        assert_eq!(versions(6), None);
    }
}
