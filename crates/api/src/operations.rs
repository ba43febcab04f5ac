//! Operations for operators: list, look, ask why it waits, call off.

mod extract;

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use broker::operations::view::{Entry, Explanation, OperationView, Operations, Page};
use domain::OperationId;
use serde::Serialize;

use crate::{auth::Principal, error::Error, events};
use extract::{Asked, Id};

type Port = State<Arc<dyn Operations>>;

/// An accepted order.
#[derive(Serialize)]
struct Accepted {
    operation: OperationId,
}

/// Routes that only read.
pub(crate) fn reading() -> Router<Arc<dyn Operations>> {
    Router::new()
        .route("/operations", get(list))
        .route("/operations/events", get(events::stream))
        .route("/operations/{id}", get(find))
        .route("/operations/{id}/journal", get(journal))
        .route("/operations/{id}/waiting", get(waiting))
}

/// Routes that change something.
pub(crate) fn changing() -> Router<Arc<dyn Operations>> {
    calling_off().route("/demonstrations", post(demonstrate))
}

/// The route by which an operation is called off.
pub(crate) fn calling_off() -> Router<Arc<dyn Operations>> {
    Router::new().route("/operations/{id}/cancel", post(cancel))
}

async fn list(State(port): Port, Asked(ask): Asked) -> Result<Json<Page>, Error> {
    Ok(Json(port.list(ask).await?))
}

async fn find(State(port): Port, Id(id): Id) -> Result<Json<OperationView>, Error> {
    Ok(Json(port.find(id).await?))
}

async fn journal(State(port): Port, Id(id): Id) -> Result<Json<Vec<Entry>>, Error> {
    Ok(Json(port.journal(id).await?))
}

async fn waiting(State(port): Port, Id(id): Id) -> Result<Json<Explanation>, Error> {
    Ok(Json(port.waiting(id).await?))
}

async fn cancel(
    State(port): Port,
    Extension(principal): Extension<Principal>,
    Id(id): Id,
) -> Result<(StatusCode, Json<OperationView>), Error> {
    let reason = format!("called off by {}", principal.subject);
    Ok((StatusCode::ACCEPTED, Json(port.cancel(id, reason).await?)))
}

async fn demonstrate(State(port): Port) -> Result<(StatusCode, Json<Accepted>), Error> {
    Ok((StatusCode::ACCEPTED, Json(Accepted { operation: port.demonstrate().await? })))
}
