//! HTTP in: find the cluster, know the caller, do one thing, answer.

mod discovery;
mod duplicates;
mod explain;
mod objects;
mod openapi;
mod params;
mod protobuf;
mod reading;
mod reviews;
mod scale;
mod subresource;
mod target;

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{ConnectInfo, DefaultBodyLimit, Path, Query, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use serde_json::Value;

use crate::{Identity, Server, Status, access::Peer, cluster::Cluster};
use params::Params;
pub use params::read_yaml;
use target::Target;

/// As large as an object may be in Kubernetes, with some room.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// One request to one cluster.
struct Incoming {
    server: Server,
    cluster: Arc<Cluster>,
    user: Identity,
    method: Method,
    headers: HeaderMap,
    params: Params,
    body: Bytes,
}

type Answer = Result<Response, Status>;

/// All paths of all clusters.
pub(crate) fn router(server: Server) -> Router {
    Router::new()
        .route("/clusters/{cluster}/{*path}", any(handle))
        .fallback(async || Status::no_such_path())
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(server)
}

async fn handle(
    State(server): State<Server>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path((cluster, path)): Path<(String, String)>,
    Query(params): Query<HashMap<String, String>>,
    method: Method,
    headers: HeaderMap,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Response {
    let answer = async {
        let target = Target::parse(&path).ok_or_else(Status::no_such_path)?;
        let cluster = server.find(&cluster)?;
        match target {
            Target::Health => return Ok("ok".into_response()),
            Target::Version => {
                let version = cluster.catalog.version_of(&server, &cluster.name);
                return Ok(Json(discovery::version(&version)).into_response());
            }
            _ => {}
        }
        let user = authenticate(&server, &cluster, &peer, &headers)?;
        let body = body.map_err(|error| {
            Status::new(413, "RequestEntityTooLarge", format!("the body cannot be taken: {error}"))
        })?;
        let params = Params(params);
        let incoming = Incoming { server, cluster, user, method, headers, params, body };
        incoming.answer(target).await
    };
    answer.await.unwrap_or_else(IntoResponse::into_response)
}

/// A token counts before a certificate, as in Kubernetes.
fn authenticate(
    server: &Server,
    cluster: &Cluster,
    peer: &Peer,
    headers: &HeaderMap,
) -> Result<Identity, Status> {
    let now = cluster.clock.now();
    if let Some(header) = headers.get(header::AUTHORIZATION) {
        let token = header.to_str().ok().and_then(|header| header.strip_prefix("Bearer "));
        let identity = token.map(str::trim).and_then(|token| {
            let is_there = |user: &str, uid: &str| has_account(cluster, user, uid);
            let own = server.tokens().check(&cluster.uid, token, now, is_there);
            own.or_else(|| cluster.catalog.authenticate(server, &cluster.name, token))
        });
        return identity.ok_or_else(Status::unauthorized);
    }
    match peer.identity(&cluster.uid, now) {
        Some(Ok(identity)) => Ok(identity),
        Some(Err(())) | None => Err(Status::unauthorized()),
    }
}

/// Whether a service account still exists.
fn has_account(cluster: &Cluster, user: &str, uid: &str) -> bool {
    let named = user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    let found = named.and_then(|(inside, name)| cluster.get("serviceaccounts", inside, name));
    found.is_some_and(|account| account["metadata"]["uid"] == uid)
}

impl Incoming {
    async fn answer(self, target: Target) -> Answer {
        if let Target::Objects(place) = target {
            if let Some(kind) = reviews::question(&place) {
                return self.review(kind, &place);
            }
            return self.objects(place).await;
        }
        if self.method != Method::GET {
            return Err(Status::method_not_allowed());
        }
        let state = self.cluster.state();
        let kinds = &state.kinds;
        let answer = match target {
            Target::CoreVersions => discovery::core_versions(),
            Target::Groups => discovery::groups(kinds),
            Target::Group(group) => discovery::group(kinds, &group)?,
            Target::Kinds { group, version } => discovery::kinds(kinds, &group, &version)?,
            Target::OpenApi2 => return Ok(openapi::version2(&self.headers)),
            Target::OpenApi3 => openapi::index(kinds, &self.cluster.name),
            Target::OpenApi3Of { group, version } => openapi::describe(kinds, &group, &version)?,
            Target::Health | Target::Version | Target::Root | Target::Objects(_) => {
                discovery::root()
            }
        };
        Ok(Json(answer).into_response())
    }
}

fn reply(code: StatusCode, body: Value) -> Response {
    (code, Json(body)).into_response()
}
