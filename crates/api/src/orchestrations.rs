//! `/upgrade/…` and `/orchestrations`: one change over many runtimes.
//!
//! What a reader would get wrong: the shapes are those that known clients send and read. `retry` is a form whose body may be empty or
//! begin with `&`, and errors are one text.

mod extract;
mod fields;
mod stream;

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, patch, post, put},
};
use base::failure::chain;
use broker::{
    instances::Error,
    orchestrations::{
        CreatedOrchestration, OperationDetail, OperationItem, Orchestrations, PageOf, Preview,
        RetryReport, StatusItem,
    },
};
use domain::orchestration::Kind;

use crate::{
    auth::{Principal, RequireScope, Verifier, scope},
    error::ErrorText,
};
use extract::{Body, PageQuery, Workers, form};

/// The content type of a retry.
const FORM: &str = "application/x-www-form-urlencoded";

/// The routes behind their doors.
pub(crate) fn routes(orchestrations: Orchestrations, verifier: Arc<Verifier>) -> Router {
    let reading = Router::new()
        .route("/orchestrations", get(list))
        .route("/orchestrations/{id}", get(find))
        .route("/orchestrations/{id}/progress", get(progress))
        .route("/orchestrations/{id}/operations", get(operations))
        .route("/orchestrations/{id}/operations/{operation}", get(operation))
        .route("/upgrade/kyma/preview", post(preview_kyma))
        .route("/upgrade/cluster/preview", post(preview_cluster));
    let changing = Router::new()
        .route("/upgrade/kyma", post(upgrade_kyma))
        .route("/upgrade/cluster", post(upgrade_cluster))
        .route("/orchestrations/{id}/cancel", put(cancel))
        .route("/orchestrations/{id}/pause", put(pause))
        .route("/orchestrations/{id}/resume", put(resume))
        .route("/orchestrations/{id}/retry", post(retry))
        .route("/orchestrations/{id}/workers", patch(workers));
    let reading =
        RequireScope::of_operators(verifier.clone(), scope::ORCHESTRATIONS_READ).around(reading);
    let changing =
        RequireScope::of_operators(verifier, scope::ORCHESTRATIONS_WRITE).around(changing);
    reading.merge(changing).with_state(orchestrations)
}

type Answer<T> = Result<(StatusCode, Json<T>), ErrorText>;

async fn upgrade_kyma(
    State(all): State<Orchestrations>,
    Extension(principal): Extension<Principal>,
    body: Body,
) -> Answer<CreatedOrchestration> {
    create(&all, Kind::UpgradeKyma, &principal, body).await
}

async fn upgrade_cluster(
    State(all): State<Orchestrations>,
    Extension(principal): Extension<Principal>,
    body: Body,
) -> Answer<CreatedOrchestration> {
    create(&all, Kind::UpgradeCluster, &principal, body).await
}

async fn create(
    all: &Orchestrations,
    kind: Kind,
    principal: &Principal,
    Body(parameters): Body,
) -> Answer<CreatedOrchestration> {
    let created = all.create(kind, parameters).await.map_err(failed)?;
    let id = created.orchestration_id;
    tracing::info!(target: "audit", subject = %principal.subject, orchestration = %id, kind = kind.as_str(), "orchestration created");
    Ok((StatusCode::ACCEPTED, Json(created)))
}

async fn preview_kyma(
    State(all): State<Orchestrations>,
    Body(parameters): Body,
) -> Result<Json<Preview>, ErrorText> {
    Ok(Json(all.preview(Kind::UpgradeKyma, parameters).await.map_err(failed)?))
}

async fn preview_cluster(
    State(all): State<Orchestrations>,
    Body(parameters): Body,
) -> Result<Json<Preview>, ErrorText> {
    Ok(Json(all.preview(Kind::UpgradeCluster, parameters).await.map_err(failed)?))
}

async fn list(
    State(all): State<Orchestrations>,
    PageQuery(request): PageQuery,
) -> Result<Json<PageOf<StatusItem>>, ErrorText> {
    Ok(Json(all.list(&request).await.map_err(failed)?))
}

async fn find(
    State(all): State<Orchestrations>,
    Path(id): Path<String>,
) -> Result<Json<StatusItem>, ErrorText> {
    Ok(Json(all.get(&id).await.map_err(failed)?))
}

/// How far it is: once, or as a stream of events for who accepts one.
async fn progress(
    State(all): State<Orchestrations>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ErrorText> {
    if stream::is_accepted(&headers) {
        return Ok(
            stream::events(all.follow(&id).await.map_err(failed)?, &principal).into_response()
        );
    }
    Ok(Json(all.progress(&id).await.map_err(failed)?).into_response())
}

async fn operations(
    State(all): State<Orchestrations>,
    Path(id): Path<String>,
    PageQuery(request): PageQuery,
) -> Result<Json<PageOf<OperationItem>>, ErrorText> {
    Ok(Json(all.operations(&id, &request).await.map_err(failed)?))
}

async fn operation(
    State(all): State<Orchestrations>,
    Path((id, operation)): Path<(String, String)>,
) -> Result<Json<OperationDetail>, ErrorText> {
    Ok(Json(all.operation(&id, &operation).await.map_err(failed)?))
}

async fn cancel(
    State(all): State<Orchestrations>,
    Extension(principal): Extension<Principal>,
    Path(id): Path<String>,
) -> Result<Json<CreatedOrchestration>, ErrorText> {
    let canceled = all.cancel(&id).await.map_err(failed)?;
    tracing::info!(target: "audit", subject = %principal.subject, orchestration = id, "orchestration canceled");
    Ok(Json(canceled))
}

async fn pause(
    State(all): State<Orchestrations>,
    Path(id): Path<String>,
) -> Result<Json<CreatedOrchestration>, ErrorText> {
    Ok(Json(all.pause(&id).await.map_err(failed)?))
}

async fn resume(
    State(all): State<Orchestrations>,
    Path(id): Path<String>,
) -> Result<Json<CreatedOrchestration>, ErrorText> {
    Ok(Json(all.resume(&id).await.map_err(failed)?))
}

async fn workers(
    State(all): State<Orchestrations>,
    Path(id): Path<String>,
    Workers(workers): Workers,
) -> Result<Json<CreatedOrchestration>, ErrorText> {
    Ok(Json(all.change_workers(&id, workers).await.map_err(failed)?))
}

async fn retry(
    State(all): State<Orchestrations>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Answer<RetryReport> {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|sent| sent.to_str().ok());
    let sent = sent.unwrap_or_default();
    if sent.split(';').next().is_none_or(|sent| sent.trim() != FORM) {
        let text = format!("a retry is a form: the content type must be {FORM}, not {sent:?}");
        return Err(ErrorText(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let retried = all.retry(&id, &form(&body)).await.map_err(failed)?;
    Ok((StatusCode::ACCEPTED, Json(retried)))
}

/// Why a request about orchestrations fails.
#[expect(clippy::needless_pass_by_value, reason = "stands where errors are mapped")]
fn failed(error: Error) -> ErrorText {
    let status = match &error {
        Error::Bad(_) => StatusCode::BAD_REQUEST,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::Unchangeable(_) => StatusCode::CONFLICT,
        Error::Unavailable(_) => {
            tracing::warn!(error = chain(&error), "orchestrations cannot be reached");
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => {
            tracing::error!(error = chain(&error), "orchestrations cannot be read");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    };
    ErrorText(status, error.to_string())
}
