//! Lists, page by page, and the start of watches.

use std::{ops::Bound, sync::Arc};

use axum::{
    body::Body,
    http::{StatusCode, header},
    response::IntoResponse,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{Answer, Incoming, params::form, reply, target::ObjectPath};
use crate::{
    Kind, Status,
    selector::Selector,
    store::Key,
    watch::{View, watch},
    write::present,
};

impl Incoming {
    pub(super) fn list(self, kind: &Kind, place: &ObjectPath) -> Answer {
        let selector = self.params.selector()?;
        let limit = self.params.number("limit")?.filter(|limit| *limit > 0);
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let state = self.cluster.state();
        // All pages name the version of the first, so that a watch that starts there misses nothing.
        let (version, from) = match self.params.text("continue") {
            None => (state.version, Bound::Unbounded),
            Some(token) => {
                let (version, key) = read_token(token)?;
                if state.after(version, 0).is_none() {
                    return Err(Status::expired("the continue token is too old, start over"));
                }
                (version, Bound::Excluded(key))
            }
        };
        let later = |key: &Key| match &from {
            Bound::Excluded(from) => key > from,
            _ => true,
        };
        let all = state.list(&kind.resource(), place.namespace.as_deref());
        let mut selected = all.filter(|(key, object)| later(key) && selector.matches(object));
        let page: Vec<_> = selected
            .by_ref()
            .take(limit)
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect();
        let left = selected.count();
        drop(state);
        let mut head = json!({"resourceVersion": version.to_string()});
        if let Some((last, _)) = page.last().filter(|_| left > 0) {
            head["continue"] = json!(write_token(version, last));
            head["remainingItemCount"] = json!(left);
        }
        let items: Vec<Value> = page.iter().map(|(_, object)| present(object, kind)).collect();
        let now = self.cluster.clock.now();
        Ok(reply(StatusCode::OK, form(&self.headers).list(kind, &items, &head, now)))
    }

    pub(super) fn watch(self, kind: &Arc<Kind>, place: &ObjectPath) -> Answer {
        let selector = match &place.name {
            // An old way to watch one object.
            Some(name) => Selector::parse(None, Some(&format!("metadata.name={name}")))?,
            None => self.params.selector()?,
        };
        let view = View {
            kind: Arc::clone(kind),
            namespace: place.namespace.clone(),
            selector,
            form: form(&self.headers),
        };
        let start = self.params.start()?;
        let lines = watch(Arc::clone(&self.cluster), view, &start);
        Ok(([(header::CONTENT_TYPE, "application/json")], Body::from_stream(lines)).into_response())
    }
}

fn write_token(version: u64, (namespace, name): &Key) -> String {
    URL_SAFE_NO_PAD.encode(json!([version, namespace, name]).to_string())
}

fn read_token(token: &str) -> Result<(u64, Key), Status> {
    let bytes = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
    let read: Result<(u64, String, String), _> = serde_json::from_slice(&bytes);
    let (version, namespace, name) =
        read.map_err(|_| Status::bad_request("continue key is not valid"))?;
    Ok((version, (namespace, name)))
}
