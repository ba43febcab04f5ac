//! Watches: every change of some objects, once and in order.
//!
//! A watcher is a position in the cluster's history and nothing else: it buffers no events of its
//! own. One that reads so slowly that the history has moved past it gets 410 and starts over.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{Stream, stream};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    Kind, Status,
    cluster::Cluster,
    selector::Selector,
    store::{Event, State},
    table::Form,
    write::present,
};

/// How many events are taken from the history at once.
const BATCH: usize = 256;
/// How often a watcher that wants bookmarks gets one.
const BOOKMARK: Duration = Duration::from_secs(60);

/// The watched resource, and its form.
pub(crate) struct View {
    pub(crate) kind: Arc<Kind>,
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    pub(crate) form: Form,
}

/// From where, for how long, and with which extras.
pub(crate) struct Start {
    /// The version after which to begin; nothing means: first everything that is there.
    pub(crate) version: Option<u64>,
    pub(crate) bookmarks: bool,
    /// Whether the initial objects end with a bookmark that says so.
    pub(crate) initial_end: bool,
    pub(crate) timeout: Duration,
}

struct Watch {
    cluster: Arc<Cluster>,
    view: View,
    resource: String,
    cursor: u64,
    latest: watch::Receiver<u64>,
    ready: VecDeque<Bytes>,
    bookmarks: bool,
    bookmark_at: Timestamp,
    until: Timestamp,
    ended: bool,
}

impl View {
    /// Whether the object is among the watched ones.
    pub(crate) fn shows(&self, object: &Value) -> bool {
        let inside = crate::object::namespace(object);
        self.namespace.as_ref().is_none_or(|namespace| namespace == inside)
            && self.selector.matches(object)
    }
}

/// The lines of a watch.
pub(crate) fn watch(
    cluster: Arc<Cluster>,
    view: View,
    start: &Start,
) -> impl Stream<Item = Result<Bytes, Infallible>> + use<> {
    let now = cluster.clock.now();
    let mut watch = Watch {
        resource: view.kind.resource(),
        latest: cluster.latest(),
        cursor: 0,
        ready: VecDeque::new(),
        bookmarks: start.bookmarks,
        bookmark_at: now + BOOKMARK,
        until: now + start.timeout,
        ended: false,
        cluster,
        view,
    };
    watch.begin(start);
    stream::unfold(watch, |mut watch| async move {
        let line = watch.next().await?;
        Some((Ok(line), watch))
    })
}

impl Watch {
    fn begin(&mut self, start: &Start) {
        let cluster = Arc::clone(&self.cluster);
        let state = cluster.state();
        if let Some(version) = start.version {
            self.cursor = version;
        } else {
            self.cursor = state.version;
            self.show_all(&state);
        }
        if start.initial_end {
            self.bookmark(true);
        }
    }

    fn show_all(&mut self, state: &State) {
        let inside = self.view.namespace.clone();
        let resource = self.resource.clone();
        for (_, object) in state.list(&resource, inside.as_deref()) {
            if self.view.shows(object) {
                self.say("ADDED", object);
            }
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if self.ended {
                return None;
            }
            // Seen before looking, so that a change in between wakes us again.
            self.latest.borrow_and_update();
            self.look();
            if self.ready.is_empty() {
                self.wait().await;
            }
        }
    }

    /// Takes the next events from the history.
    fn look(&mut self) {
        let events = self.cluster.state().after(self.cursor, BATCH);
        let Some(events) = events else {
            let message = format!("too old resource version: {}", self.cursor);
            self.line("ERROR", &Status::expired(message).body());
            self.ended = true;
            return;
        };
        for event in events {
            self.cursor = event.version;
            self.tell(&event);
        }
    }

    fn tell(&mut self, event: &Event) {
        if event.resource != self.resource {
            return;
        }
        let before = event.before.as_ref().is_some_and(|before| self.view.shows(before));
        let after = !event.deleted && self.view.shows(&event.object);
        match (before, after) {
            (false, false) => {}
            (false, true) => self.say("ADDED", &event.object),
            (true, true) => self.say("MODIFIED", &event.object),
            (true, false) => self.say("DELETED", &event.object),
        }
    }

    async fn wait(&mut self) {
        let now = self.cluster.clock.now();
        if now >= self.until {
            self.ended = true;
            if self.bookmarks {
                self.bookmark(false);
            }
            return;
        }
        if self.bookmarks && now >= self.bookmark_at {
            self.bookmark_at = now + BOOKMARK;
            self.bookmark(false);
            return;
        }
        let next = if self.bookmarks { self.bookmark_at.min(self.until) } else { self.until };
        let gone = self.cluster.gone.clone();
        tokio::select! {
            changed = self.latest.changed() => self.ended = changed.is_err(),
            () = self.cluster.clock.sleep_until(next) => {}
            () = gone.cancelled() => self.ended = true,
        }
    }

    fn say(&mut self, what: &str, object: &Value) {
        let now = self.cluster.clock.now();
        let object = present(object, &self.view.kind);
        let object = self.view.form.one(&self.view.kind, object, now);
        self.line(what, &object);
    }

    fn bookmark(&mut self, initial_end: bool) {
        let mut metadata =
            json!({"resourceVersion": self.cursor.to_string(), "creationTimestamp": null});
        if initial_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let kind = &self.view.kind;
        let object =
            json!({"kind": kind.kind, "apiVersion": kind.api_version(), "metadata": &metadata});
        let now = self.cluster.clock.now();
        let object = match self.view.form {
            Form::Table => self.view.form.list(kind, &[], &metadata, now),
            form => form.one(kind, object, now),
        };
        self.line("BOOKMARK", &object);
    }

    fn line(&mut self, what: &str, object: &Value) {
        let mut line = json!({"type": what, "object": object}).to_string();
        line.push('\n');
        self.ready.push_back(Bytes::from(line));
    }
}
