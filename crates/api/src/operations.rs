//! Operations for operators: list, find, explain why one waits, cancel.

mod extract;

use axum::{
    Extension, Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use broker::operations::{
    demonstration,
    view::{Entry, Explanation, OperationId, Operations, OperationsError, Page, Snapshot},
};
use serde::Serialize;

use crate::{auth::Principal, error::Error, events};
use extract::{PathId, QueryParams};

/// An accepted order.
#[derive(Serialize)]
struct Accepted {
    operation: OperationId,
}

/// Routes that only read.
pub(crate) fn reading() -> Router<Operations> {
    Router::new()
        .route("/operations", get(list))
        .route("/operations/events", get(events::stream))
        .route("/operations/{id}", get(find))
        .route("/operations/{id}/journal", get(journal))
        .route("/operations/{id}/waiting", get(waiting))
}

/// Routes that change something.
pub(crate) fn changing() -> Router<Operations> {
    calling_off().route("/demonstrations", post(demonstrate))
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

async fn demonstrate(
    State(operations): State<Operations>,
) -> Result<(StatusCode, Json<Accepted>), Error> {
    let accepted = demonstration::accept(operations.engine(), "an operator").await;
    let operation = accepted.map_err(OperationsError::from)?;
    Ok((StatusCode::ACCEPTED, Json(Accepted { operation })))
}
