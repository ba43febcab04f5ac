//! How far an orchestration is, as server-sent events: now, and whenever that changes.
//!
//! A stream ends when the orchestration has ended, or when the token that opened it runs out; the watcher opens a new one then.

use std::{convert::Infallible, sync::Arc};

use axum::{
    http::{HeaderMap, header},
    response::{
        Sse,
        sse::{Event, KeepAlive},
    },
};
use broker::orchestrations::Progress;
use futures::{Stream, StreamExt};
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;

use crate::auth::Principal;

const EVENTS: &str = "text/event-stream";

/// Whether the caller wants events.
pub(super) fn is_accepted(headers: &HeaderMap) -> bool {
    let given = headers.get_all(header::ACCEPT).iter().filter_map(|given| given.to_str().ok());
    let mut kinds = given.flat_map(|given| given.split(','));
    kinds.any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == EVENTS))
}

pub(super) fn events(
    updates: watch::Receiver<Arc<Progress>>,
    principal: &Principal,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let events = WatchStream::new(updates)
        .filter_map(|progress| async move {
            Event::default().event("progress").json_data(progress.as_ref()).ok().map(Ok)
        })
        .take_until(principal.runs_out());
    Sse::new(events).keep_alive(KeepAlive::default())
}
