//! The connector beside the Director: a one-time token in, credentials of a runtime agent out.
//!
//! What a reader would get wrong: a token is good once, but the same exchange may be repeated. An agent
//! that died before it could keep its credentials asks again under the same `Idempotency-Key`.

#![expect(clippy::unused_async, reason = "the derive asks for async functions")]

use std::{sync::Arc, time::Duration};

use async_graphql::{
    Context, EmptySubscription, ID, Object, Request, Result, Schema, SimpleObject,
};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    response::Response,
    routing::post,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::{
    Director,
    access::{answer, not_json, refused},
    error::Refusal,
    runtimes::{Event, Runtimes},
    types,
};

/// Where it answers.
pub(super) const PATH: &str = "/connector/graphql";
/// How long a token waits to be exchanged. Limits are not scaled by the landscape's speed.
pub(super) const TOKEN_LIFETIME: Duration = Duration::from_mins(15);
/// Whose credentials these are.
const CLIENT: &str = "runtime-agent";
/// What an agent may do at the Director.
const SCOPES: [&str; 2] = ["runtime:read", "runtime:write"];

/// With what a caller came.
struct Caller {
    director: Arc<Director>,
    token: Option<String>,
    bearer: Option<String>,
    key: String,
}

/// Where an agent goes from here.
#[derive(SimpleObject)]
struct ManagementPlaneInfo {
    #[graphql(name = "directorURL")]
    director_url: String,
    #[graphql(name = "connectorURL")]
    connector_url: String,
}

/// What an agent shows the Director.
#[derive(SimpleObject)]
struct Credentials {
    token: String,
    valid_from: types::Timestamp,
    valid_until: types::Timestamp,
    management_plane_info: ManagementPlaneInfo,
}

struct Query;

#[Object]
impl Query {
    /// Where an agent goes from here; anybody may know.
    async fn management_plane_info(&self, cx: &Context<'_>) -> ManagementPlaneInfo {
        cx.data_unchecked::<Caller>().director.management_plane()
    }
}

struct Mutation;

#[Object]
impl Mutation {
    /// Exchanges the one-time token of the header `Connector-Token` for credentials.
    async fn exchange_token(
        &self,
        cx: &Context<'_>,
        #[graphql(name = "runtimeID")] id: ID,
        tenant: String,
    ) -> Result<Credentials> {
        let caller: &Caller = cx.data_unchecked();
        let no_token = || Refusal::Unauthorized("no one-time token".into());
        let token = caller.token.as_deref().ok_or_else(no_token)?;
        let now = caller.director.clock.now();
        caller.director.runtimes.change(|known| {
            let fresh = usable(known, (token, &caller.key), (&tenant, &id), now)?;
            let (id, token, by) = (id.to_string(), token.to_owned(), caller.key.clone());
            Ok::<_, Refusal>((fresh.then_some(Event::TokenUsed { id, token, by }), ()))
        })?;
        Ok(caller.director.credentials(&id)?)
    }

    /// Gives an agent whose credentials are still good new ones.
    async fn renew_credentials(&self, cx: &Context<'_>) -> Result<Credentials> {
        let caller: &Caller = cx.data_unchecked();
        let unauthorized = |reason: &str| Refusal::Unauthorized(reason.into());
        let bearer = caller.bearer.as_deref().ok_or_else(|| unauthorized("no credentials"))?;
        let verified = caller.director.issuer.verify(bearer);
        let verified = verified.map_err(|error| unauthorized(&error.to_string()))?;
        let id = verified.subject.strip_prefix("runtime/");
        let id = id.ok_or_else(|| unauthorized("these are no credentials of a runtime"))?;
        if !caller.director.runtimes.read(|known| known.by_id.contains_key(id)) {
            return Err(Refusal::NotFound(id.to_owned()).into());
        }
        Ok(caller.director.credentials(id)?)
    }
}

/// Whether a token opens the door for this runtime; false if this very exchange was made before.
fn usable(
    known: &Runtimes,
    (token, key): (&str, &str),
    (tenant, id): (&str, &str),
    now: Timestamp,
) -> Result<bool, Refusal> {
    let refuse = |reason: &str| Err(Refusal::Unauthorized(reason.into()));
    if known.tokens.get(token).map(String::as_str) != Some(id) || known.of(tenant, id).is_none() {
        return refuse("the one-time token is not known for this runtime");
    }
    match known.used.get(token) {
        Some(by) if by == key => return Ok(false),
        Some(_) => return refuse("the one-time token was used before"),
        None => {}
    }
    let expired = known.given_at.get(token).is_some_and(|at| *at + TOKEN_LIFETIME <= now);
    if expired { refuse("the one-time token has expired") } else { Ok(true) }
}

impl Director {
    fn management_plane(&self) -> ManagementPlaneInfo {
        ManagementPlaneInfo {
            director_url: format!("{}/director/graphql", self.issuer.url()),
            connector_url: self.connector_url(),
        }
    }

    fn credentials(&self, id: &str) -> Result<Credentials, Refusal> {
        let scopes = SCOPES.map(str::to_owned);
        let claims = self.issuer.claims(CLIENT, &format!("runtime/{id}"), &scopes, &[]);
        let at = |second| types::Timestamp(Timestamp::from_second(second).unwrap_or_default());
        let token = self.issuer.sign(&claims).map_err(|error| {
            let id = Uuid::new_v4();
            tracing::error!(%error, %id, "the connector cannot sign credentials");
            Refusal::Internal(id)
        })?;
        Ok(Credentials {
            token,
            valid_from: at(claims.iat),
            valid_until: at(claims.exp),
            management_plane_info: self.management_plane(),
        })
    }
}

#[derive(Clone)]
struct SchemaState {
    director: Arc<Director>,
    schema: Schema<Query, Mutation, EmptySubscription>,
}

/// The connector's routes.
pub(super) fn router(director: Arc<Director>) -> Router {
    let schema = Schema::build(Query, Mutation, EmptySubscription).limit_depth(10).finish();
    Router::new().route(PATH, post(graphql)).with_state(SchemaState { director, schema })
}

async fn graphql(State(served): State<SchemaState>, headers: HeaderMap, body: Bytes) -> Response {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let request: Request = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return not_json(&error),
    };
    if let Err(error) = served.director.settle() {
        return refused(StatusCode::OK, &error.into());
    }
    let bearer = text(AUTHORIZATION.as_str());
    let bearer = bearer.and_then(|header| Some(header.strip_prefix("Bearer ")?.trim().to_owned()));
    let key = text("idempotency-key").unwrap_or_else(|| Uuid::new_v4().to_string());
    let token = text("connector-token");
    let caller = Caller { director: served.director, token, bearer, key };
    answer(served.schema.execute(request.data(caller)).await)
}
