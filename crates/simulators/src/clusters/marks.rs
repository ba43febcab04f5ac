//! Which calls changed something: the innermost layer around the clusters' routes.
//!
//! What a reader would get wrong: the ledger is written after the cluster has stored the change, and outside
//! of its lock. So a kill between the two loses the line that says `applied` (the call's `received` is
//! there), and changes of *different* objects may be entered in another order than they were made.
//! Writes to the same object take turns here, the landscape's own included, so what is entered is exact.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{Method, Uri},
    middleware::Next,
    response::{IntoResponse, Response},
};
use cluster::{Server, Status};
use futures::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::sync::Mutex;

use super::object_path::{ObjectPath, changes, has};
use crate::ledger::call;

/// How many objects can be written to at once, more or less.
const TURNS: usize = 64;
/// The largest answer that is looked at.
const LARGEST: usize = 64 << 20;

/// The state of the layer.
pub(super) struct Marks {
    /// Known as soon as the server has started.
    pub(super) server: OnceLock<Server>,
    turns: [Mutex<()>; TURNS],
}

impl Default for Marks {
    fn default() -> Self {
        Self { server: OnceLock::new(), turns: std::array::from_fn(|_| Mutex::new(())) }
    }
}

impl Marks {
    fn turn(&self, place: &ObjectPath) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        (&place.cluster, &place.resource, &place.namespace, &place.name).hash(&mut hasher);
        let slot = usize::try_from(hasher.finish()).unwrap_or_default() % TURNS;
        &self.turns[slot]
    }

    fn version(&self, place: &ObjectPath) -> Option<String> {
        let server = self.server.get()?;
        let found = server.get(&place.cluster, &place.resource, &place.namespace, &place.name)?;
        found["metadata"]["resourceVersion"].as_str().map(str::to_owned)
    }
}

/// Lets a request through and enters what it changed.
pub(super) async fn mark(
    State(marks): State<Arc<Marks>>,
    mut request: Request,
    next: Next,
) -> Response {
    let uri = request.uri().clone();
    if !changes(request.method()) {
        let answer = next.run(request).await;
        return if has(&uri, "watch") { bounded(answer) } else { answer };
    }
    if call::pretends() {
        pretend(request.uri_mut());
    }
    let (method, dry) = (request.method().clone(), has(request.uri(), "dryRun"));
    let place = ObjectPath::parse(uri.path()).filter(|_| !dry);
    let Some(place) = place else { return next.run(request).await };
    let turn = marks.turn(&place).lock().await;
    let before = marks.version(&place);
    let answer = next.run(request).await;
    if !call::is_open() || !answer.status().is_success() {
        return answer;
    }
    let (answer, changed) = changed(&marks, &method, place, before, answer).await;
    drop(turn);
    let entered = changed.map_or(Ok(()), |object| call::applied(&object));
    entered.map_or_else(|error| Status::internal(error.to_string()).into_response(), |()| answer)
}

/// The change of an answered call, in the words of the ledger.
async fn changed(
    marks: &Marks,
    method: &Method,
    mut place: ObjectPath,
    before: Option<String>,
    answer: Response,
) -> (Response, Option<String>) {
    if !place.name.is_empty() {
        let verb = match *method {
            // A subresource that answers, such as a kubeconfig, changes nothing.
            Method::POST => return (answer, None),
            Method::PUT => "update",
            Method::PATCH => "patch",
            _ => "delete",
        };
        let changed = marks.version(&place) != before;
        return (answer, changed.then(|| format!("{verb} {}", place.object())));
    }
    let (answer, body) = read(answer).await;
    if *method == Method::POST {
        // The name may have been generated.
        body["metadata"]["name"].as_str().unwrap_or_default().clone_into(&mut place.name);
        return (answer, Some(format!("create {}", place.object())));
    }
    let gone = body["items"].as_array().map_or(0, Vec::len);
    (answer, (gone > 0).then(|| format!("delete {gone} {}", place.object())))
}

async fn read(answer: Response) -> (Response, Value) {
    let (head, body) = answer.into_parts();
    let body = to_bytes(body, LARGEST).await.unwrap_or_default();
    let value = serde_json::from_slice(&body).unwrap_or_default();
    (Response::from_parts(head, Body::from(body)), value)
}

/// A dry run is decided and answered like any other call, and nothing is kept.
fn pretend(uri: &mut Uri) {
    let query = uri.query().map_or(String::new(), |query| format!("{query}&"));
    let text = format!("{}?{query}dryRun=All", uri.path());
    if let Ok(changed) = text.parse() {
        *uri = changed;
    }
}

/// A watch has no end. Trouble that waits for a whole answer gets what there is by now.
fn bounded(answer: Response) -> Response {
    if matches!(call::met(), None | Some("slow")) {
        return answer;
    }
    let (head, body) = answer.into_parts();
    let mut parts = body.into_data_stream();
    let mut seen: Vec<u8> = Vec::new();
    while let Some(Some(Ok(part))) = parts.next().now_or_never() {
        seen.extend_from_slice(&part);
    }
    Response::from_parts(head, Body::from(Bytes::from(seen)))
}
