//! Operations for operators: list, find, explain why one waits, cancel.

mod extract;

use axum::{
    Extension, Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use broker::operations::view::{Entry, Explanation, Operations, Page, Snapshot};

use crate::{auth::Principal, error::Error, events};
use extract::{PathId, QueryParams};

/// Routes that only read.
pub(crate) fn reading() -> Router<Operations> {
    Router::new()
        .route("/operations", get(list))
        .route("/operations/events", get(events::stream))
        .route("/operations/{id}", get(find))
        .route("/operations/{id}/journal", get(journal))
        .route("/operations/{id}/waiting", get(waiting))
}

/// The route that cancels an operation.
pub(crate) fn calling_off() -> Router<Operations> {
    Router::new().route("/operations/{id}/cancel", post(cancel))
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

async fn cancel(
    State(operations): State<Operations>,
    Extension(principal): Extension<Principal>,
    PathId(id): PathId,
) -> Result<(StatusCode, Json<Snapshot>), Error> {
    let reason = format!("called off by {}", principal.subject);
    Ok((StatusCode::ACCEPTED, Json(operations.cancel(id, reason).await?)))
}
