//! Which runtimes can be reached, kept over a kill.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use cluster::Status;
use futures::stream;
use serde::{Deserialize, Serialize};

use super::object_path::cluster;
use crate::store::{Error, State as Kept, Store};

/// Why a runtime cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutageReason {
    /// Its control plane sleeps: a gateway says 503.
    Hibernated,
    /// By order of an operator: connections are closed without a response.
    Refused,
}

/// The runtimes that cannot be reached.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct UnreachableRuntimes(BTreeMap<String, BTreeSet<OutageReason>>);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    Closed(String, OutageReason),
    Opened(String, OutageReason),
    Gone(String),
}

impl Kept for UnreachableRuntimes {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::Closed(runtime, why) => drop(self.0.entry(runtime).or_default().insert(why)),
            Event::Opened(runtime, why) => {
                let left = self.0.get_mut(&runtime).is_some_and(|reasons| {
                    reasons.remove(&why);
                    !reasons.is_empty()
                });
                if !left {
                    self.0.remove(&runtime);
                }
            }
            Event::Gone(runtime) => drop(self.0.remove(&runtime)),
        }
    }

    fn object(event: &Event) -> String {
        let (Event::Closed(runtime, _) | Event::Opened(runtime, _) | Event::Gone(runtime)) = event;
        format!("runtime/{runtime}")
    }
}

#[derive(Debug)]
pub(super) struct Reachability(Store<UnreachableRuntimes>);

impl Reachability {
    /// Opens the log in `path`.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Store::open(path).map(Self)
    }

    /// Opens or closes a runtime for one reason; the other reasons stay.
    pub(super) fn set(&self, runtime: &str, why: OutageReason, open: bool) -> Result<(), Error> {
        self.0.settle(|closed| {
            let is_closed = closed.0.get(runtime).is_some_and(|reasons| reasons.contains(&why));
            match (open, is_closed) {
                (true, true) => vec![Event::Opened(runtime.into(), why)],
                (false, false) => vec![Event::Closed(runtime.into(), why)],
                _ => Vec::new(),
            }
        })
    }

    /// Forgets a runtime.
    pub(super) fn forget(&self, runtime: &str) -> Result<(), Error> {
        self.0.settle(|closed| {
            let known = closed.0.contains_key(runtime);
            known.then(|| Event::Gone(runtime.into())).into_iter().collect()
        })
    }

    /// Forgets all.
    pub(super) fn reset(&self) -> Result<(), Error> {
        self.0.reset()
    }

    /// The strongest reason why a runtime cannot be reached.
    pub(super) fn closed(&self, runtime: &str) -> Option<OutageReason> {
        self.0.read(|closed| closed.0.get(runtime)?.last().copied())
    }
}

/// Turns callers of unreachable runtimes away.
pub(super) async fn guard(
    State(reach): State<std::sync::Arc<Reachability>>,
    request: Request,
    next: Next,
) -> Response {
    let why = cluster(request.uri().path()).and_then(|runtime| reach.closed(runtime));
    match why {
        None => next.run(request).await,
        Some(OutageReason::Hibernated) => {
            let message = "the control plane of the cluster is hibernated";
            Status::new(503, "ServiceUnavailable", message).into_response()
        }
        Some(OutageReason::Refused) => {
            // A body that fails before anything is flushed makes the server drop the connection.
            let cut = io::Error::new(io::ErrorKind::ConnectionReset, "the runtime refuses");
            let body = Body::from_stream(stream::iter([Err::<Vec<u8>, _>(cut)]));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}
