//! `GET /leftovers`: what is left of instances that were removed, until it is gone. `GET /may-exist`: what may exist in systems that
//! cannot be asked for it, until an operator settles it.

use axum::{
    Extension, Json, Router,
    extract::{Path, Query, State, rejection::QueryRejection},
    http::StatusCode,
    routing::{delete, get},
};
use base::failure::chain;
use broker::{
    chores::leftovers::Leftover,
    instances::{self, Broker, LeftoverPage, MayExistPage},
};
use serde::Deserialize;
use uuid::Uuid;

use crate::{auth::Principal, error::Error};

/// How many a page has, unless it is said.
const USUAL: u32 = 50;
/// How many a page has at most.
const MOST: u32 = 200;

pub(crate) fn routes() -> Router<Broker> {
    Router::new()
        .route("/leftovers", get(list))
        .route("/leftovers/{instance}", get(find))
        .route("/may-exist", get(may_exist))
}

/// Routes that change something.
pub(crate) fn changing() -> Router<Broker> {
    Router::new().route("/may-exist/{id}", delete(settle))
}

/// Which page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageParams {
    limit: Option<u32>,
    after: Option<String>,
}

async fn list(
    State(broker): State<Broker>,
    asked: Result<Query<PageParams>, QueryRejection>,
) -> Result<Json<LeftoverPage>, Error> {
    let (limit, after) = page(asked)?;
    Ok(Json(broker.leftovers(after.as_deref(), limit).await.map_err(|error| refused(&error))?))
}

async fn may_exist(
    State(broker): State<Broker>,
    asked: Result<Query<PageParams>, QueryRejection>,
) -> Result<Json<MayExistPage>, Error> {
    let (limit, after) = page(asked)?;
    let after = after.map(|after| id("after", &after)).transpose()?;
    Ok(Json(broker.may_exist(after, limit).await.map_err(|error| refused(&error))?))
}

async fn settle(
    State(broker): State<Broker>,
    Extension(principal): Extension<Principal>,
    Path(call): Path<String>,
) -> Result<StatusCode, Error> {
    let call = id("id", &call)?;
    broker.settle(call).await.map_err(|error| refused(&error))?;
    tracing::info!(%call, principal = %principal.subject, "what may exist was settled");
    Ok(StatusCode::NO_CONTENT)
}

/// How many, and behind what.
fn page(asked: Result<Query<PageParams>, QueryRejection>) -> Result<(u32, Option<String>), Error> {
    let bad = |problem: String| Error::Bad { field: "the query", problem };
    let Query(PageParams { limit, after }) = asked.map_err(|error| bad(error.body_text()))?;
    let limit = limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        let problem = format!("must be between 1 and {MOST}");
        return Err(Error::Bad { field: "limit", problem });
    }
    Ok((limit, after))
}

fn id(field: &'static str, text: &str) -> Result<Uuid, Error> {
    text.parse().map_err(|_| Error::Bad { field, problem: "is no id".into() })
}

async fn find(
    State(broker): State<Broker>,
    Path(instance): Path<String>,
) -> Result<Json<Leftover>, Error> {
    let found = broker.leftovers_of(&instance).await.map_err(|error| refused(&error))?;
    found.map(Json).ok_or(Error::NoLeftovers(instance))
}

pub(crate) fn refused(error: &instances::Error) -> Error {
    match error {
        instances::Error::Bad(problem) => Error::Bad { field: "after", problem: problem.clone() },
        instances::Error::NotFound(what) => Error::NotFound(what.clone()),
        instances::Error::Unavailable(_) => {
            tracing::warn!(error = chain(error), "leftovers or the archive cannot be read");
            Error::Unavailable
        }
        _ => {
            tracing::error!(error = chain(error), "leftovers or the archive cannot be read");
            Error::Internal
        }
    }
}
