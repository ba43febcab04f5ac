//! Reads of platforms: the catalog, one instance, the progress of an operation.

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use broker::instances::Broker;
use serde_json::json;

use super::{
    extract::{Authenticated, PathParams, QueryParams},
    respond::{Refusal, answer, without_empty_fields},
};

/// `GET /v2/catalog`
pub(super) async fn catalog(State(broker): State<Broker>, path: PathParams) -> Response {
    answer(StatusCode::OK, &broker.catalog(path.region.as_deref()))
}

/// `GET /v2/service_instances/{instance_id}`
pub(super) async fn instance(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
) -> Result<Response, Refusal> {
    let found = broker.find(&caller, &path.instance_id).await?;
    let body = json!({
        "service_id": found.service_id,
        "plan_id": found.plan_id,
        "dashboard_url": found.dashboard_url,
        "parameters": found.record,
        "metadata": {"labels": found.labels},
    });
    Ok(answer(StatusCode::OK, &without_empty_fields(body)))
}

/// `GET /v2/service_instances/{instance_id}/last_operation`
pub(super) async fn last_operation(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
) -> Result<Response, Refusal> {
    let operation = query.get("operation");
    let last = broker.last_operation(&caller, &path.instance_id, operation).await?;
    let body = json!({
        "state": last.progress.as_str(),
        "description": last.description,
        "instance_usable": last.instance_usable,
    });
    let mut response = answer(StatusCode::OK, &without_empty_fields(body));
    if let Some(after) = last.retry_after {
        let seconds = HeaderValue::from(after.as_secs().max(1));
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    Ok(response)
}
