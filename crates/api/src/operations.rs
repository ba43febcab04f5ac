//! Operations for operators: list, find, explain why one waits; what gets one unstuck is in `operations/unstuck.rs`.

mod extract;
mod unstuck;

use axum::{Json, Router, extract::State, routing::get};
use broker::operations::view::{Entry, Explanation, Operations, Page, Snapshot};

use crate::{error::Error, events};
use extract::{PathId, QueryParams};
pub(crate) use unstuck::routes as unstuck;

/// Routes that only read.
pub(crate) fn reading() -> Router<Operations> {
    Router::new()
        .route("/operations", get(list))
        .route("/operations/events", get(events::stream))
        .route("/operations/{id}", get(find))
        .route("/operations/{id}/journal", get(journal))
        .route("/operations/{id}/waiting", get(waiting))
}

async fn list(
    State(operations): State<Operations>,
    QueryParams(request): QueryParams,
) -> Result<Json<Page>, Error> {
    Ok(Json(operations.list(request).await?))
}

async fn find(
    State(operations): State<Operations>,
    PathId(id): PathId,
) -> Result<Json<Snapshot>, Error> {
    Ok(Json(operations.find(id).await?))
}

async fn journal(
    State(operations): State<Operations>,
    PathId(id): PathId,
) -> Result<Json<Vec<Entry>>, Error> {
    Ok(Json(operations.journal(id).await?))
}

async fn waiting(
    State(operations): State<Operations>,
    PathId(id): PathId,
) -> Result<Json<Explanation>, Error> {
    Ok(Json(operations.waiting(id).await?))
}
