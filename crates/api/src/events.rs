//! Events of operations, as server-sent events, for pages and tools that watch.
//!
//! A stream ends when the token that opened it runs out; the watcher opens a new one. Events may be
//! left out when the watcher is slow: an event is a reason to look, not a record.

use std::convert::Infallible;

use axum::{
    Extension,
    extract::State,
    response::{
        Sse,
        sse::{Event, KeepAlive},
    },
};
use broker::operations::view::Operations;
use futures::{Stream, StreamExt};
use tokio_stream::wrappers::BroadcastStream;

use crate::auth::Principal;

pub(crate) async fn stream(
    State(operations): State<Operations>,
    Extension(principal): Extension<Principal>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = BroadcastStream::new(operations.events())
        .filter_map(|event| async {
            Event::default().event("operation").json_data(event.ok()?).ok().map(Ok)
        })
        .take_until(principal.runs_out());
    Sse::new(events).keep_alive(KeepAlive::default())
}
