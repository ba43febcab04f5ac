//! `GET /archive`: what is kept of removed instances after their operations were deleted.

use axum::{
    Json, Router,
    extract::{Path, Query, State, rejection::QueryRejection},
    routing::get,
};
use broker::instances::{ArchiveItem, ArchivePage, Broker};
use serde::Deserialize;

use crate::{error::Error, leftovers::refused};

/// How many a page has, unless the query says.
const USUAL: u32 = 50;
/// How many a page has at most.
const MOST: u32 = 200;

pub(crate) fn routes() -> Router<Broker> {
    Router::new().route("/archive", get(list)).route("/archive/{instance}", get(find))
}

/// Which page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryParams {
    account: Option<String>,
    limit: Option<u32>,
    after: Option<String>,
}

async fn list(
    State(broker): State<Broker>,
    query: Result<Query<QueryParams>, QueryRejection>,
) -> Result<Json<ArchivePage>, Error> {
    let bad = |problem: String| Error::Bad { field: "the query", problem };
    let Query(query) = query.map_err(|error| bad(error.body_text()))?;
    let limit = query.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        let problem = format!("must be between 1 and {MOST}");
        return Err(Error::Bad { field: "limit", problem });
    }
    let page = broker.archive(query.account.as_deref(), query.after.as_deref(), limit).await;
    Ok(Json(page.map_err(|error| refused(&error))?))
}

async fn find(
    State(broker): State<Broker>,
    Path(instance): Path<String>,
) -> Result<Json<ArchiveItem>, Error> {
    let found = broker.archived_instance(&instance).await.map_err(|error| refused(&error))?;
    found.map(Json).ok_or_else(|| Error::NotFound(format!("archived instance {instance}")))
}
