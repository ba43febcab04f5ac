//! The layers around the clusters' routes: who gets through which, and in which words trouble speaks.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{from_fn_with_state, map_response},
    response::{IntoResponse, Response},
};
use base::Clock;
use cluster::Status;
use tower::ServiceExt;

use super::{
    marks::{Marks, mark},
    object_path::{CONTROL_PLANE, GARDEN, cluster},
    own::Password,
    reach::{Reachability, guard},
};
use crate::{
    ledger::Ledger,
    trouble::{Troubles, around},
};

/// The name of each cluster's system in the ledger.
pub(super) const GARDENER: &str = "gardener";
/// The control plane's own cluster as a system.
pub(super) const CONTROL: &str = "control-plane";
/// All clusters of Shoots as a system.
pub(super) const RUNTIMES: &str = "runtimes";

/// What the layers need.
pub(super) struct Layers {
    pub(super) password: Password,
    pub(super) marks: Arc<Marks>,
    pub(super) reach: Arc<Reachability>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) troubles: Arc<Troubles>,
    pub(super) clock: Clock,
}

/// The same routes, behind different layers.
struct Doors {
    password: Password,
    /// For the landscape itself.
    side: Router,
    gardener: Router,
    control: Router,
    runtimes: Router,
}

impl Layers {
    /// Puts the layers around the routes of all clusters.
    pub(super) fn around(self, routes: Router) -> Router {
        let marked = routes.layer(from_fn_with_state(self.marks.clone(), mark));
        let reached = marked.clone().layer(from_fn_with_state(self.reach.clone(), guard));
        let doors = Doors {
            gardener: self.watched(marked.clone(), GARDENER),
            control: self.watched(marked.clone(), CONTROL),
            runtimes: self.watched(reached, RUNTIMES),
            side: marked,
            password: self.password,
        };
        Router::new().fallback(enter).with_state(Arc::new(doors))
    }

    fn watched(&self, routes: Router, system: &'static str) -> Router {
        let (ledger, troubles) = (self.ledger.clone(), self.troubles.clone());
        around(routes, system, ledger, troubles, self.clock.clone())
            .layer(map_response(in_kubernetes_words))
    }
}

async fn enter(State(doors): State<Arc<Doors>>, request: Request) -> Response {
    let door = if doors.password.is_in(request.headers()) {
        &doors.side
    } else {
        match cluster(request.uri().path()) {
            Some(GARDEN) => &doors.gardener,
            Some(CONTROL_PLANE) => &doors.control,
            _ => &doors.runtimes,
        }
    };
    door.clone().oneshot(request).await.into_response()
}

/// Trouble answers with a gateway's page. Where the API server itself would have answered, its own
/// words take the place of the page.
async fn in_kubernetes_words(answer: Response) -> Response {
    let page = answer.headers().get(header::CONTENT_TYPE);
    let page = page.is_some_and(|media| media.as_bytes().starts_with(b"text/html"));
    // Nobody but a gateway says 502, and what is good stays as it is under whatever media type.
    if !page || answer.status().is_success() || answer.status() == StatusCode::BAD_GATEWAY {
        return answer;
    }
    let code = answer.status().as_u16();
    let (reason, message) = words(code);
    let mut said = Status::new(code, reason, message).into_response();
    let wait: Option<&HeaderValue> = answer.headers().get(header::RETRY_AFTER);
    if let Some(wait) = wait {
        said.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    said
}

fn words(code: u16) -> (&'static str, &'static str) {
    match code {
        400 => ("BadRequest", "the server rejected our request for an unknown reason"),
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "forbidden"),
        404 => ("NotFound", "the server could not find the requested resource"),
        409 => ("Conflict", "the object has been modified; please apply your changes again"),
        410 => ("Expired", "the provided resource version is too old"),
        422 => ("Invalid", "the server rejected our request due to an error in our request"),
        429 => ("TooManyRequests", "too many requests, please try again later"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => ("Timeout", "the server was unable to return a response in the time allotted"),
        _ => ("InternalError", "Internal error occurred"),
    }
}
