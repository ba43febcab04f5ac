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
    /// The previous object.
    pub(crate) before: Option<Arc<Value>>,
    /// The current object, or its last version.
    pub(crate) object: Arc<Value>,
    pub(crate) deleted: bool,
}

/// The state of a cluster.
pub(crate) struct State {
    /// Tells this cluster from an earlier one of the same name.
    pub(crate) uid: String,
    /// The resourceVersion of the latest change.
    pub(crate) version: u64,
    pub(crate) kinds: Kinds,
    objects: BTreeMap<String, BTreeMap<Key, Arc<Value>>>,
    history: VecDeque<Event>,
    /// About how many bytes of memory the history takes.
    weight: usize,
    limit: History,
}

/// How much a cluster remembers for watchers; one who is further behind has to list again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// The highest number of changes.
    pub changes: usize,
    /// The highest number of bytes in memory, roughly.
    pub bytes: usize,
}

impl State {
    /// An empty cluster; the version is where its counting starts.
    pub(crate) fn new(uid: String, version: u64, kinds: Kinds, limit: History) -> Self {
        let (objects, history) = (BTreeMap::new(), VecDeque::new());
        Self { uid, version, kinds, objects, history, weight: 0, limit }
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
        self.weight += weight(&object);
        self.history.push_back(Event { version, resource, before, object, deleted });
        self.forget();
    }

    fn forget(&mut self) {
        // The latest change stays, however large it is.
        while self.history.len() > 1
            && (self.history.len() > self.limit.changes || self.weight > self.limit.bytes)
        {
            if let Some(event) = self.history.pop_front() {
                self.weight = self.weight.saturating_sub(weight(&event.object));
            }
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
        self.kinds.define(defined);
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

/// About how many bytes of memory a value takes.
fn weight(value: &Value) -> usize {
    const NODE: usize = 32;
    const FIELD: usize = 80;
    match value {
        Value::Array(items) => NODE + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| FIELD + key.len() + weight(value);
            NODE + fields.iter().map(field).sum::<usize>()
        }
        Value::String(text) => NODE + text.len(),
        _ => NODE,
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
        let limit = History { changes: 3, bytes: usize::MAX };
        let mut state = State::new("u".into(), 0, Kinds::default(), limit);
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

    #[test]
    fn history_takes_no_more_memory_than_it_may() {
        let limit = History { changes: usize::MAX, bytes: 12_000 };
        let mut state = State::new("u".into(), 0, Kinds::default(), limit);
        let large = |version| {
            let object = json!({"metadata": {"name": "a"}, "data": "x".repeat(3_000)});
            Change { object: Some(Arc::new(object)), ..change(version) }
        };
        (1..=100).for_each(|version| state.apply(large(version)));

        assert_eq!(state.history.len(), 3);
        assert!(state.weight <= 12_000, "{}", state.weight);
        state.apply(Change { object: Some(Arc::new(json!("x".repeat(20_000)))), ..change(101) });
        assert_eq!(state.after(100, 10).map(|events| events.len()), Some(1));
    }
}
