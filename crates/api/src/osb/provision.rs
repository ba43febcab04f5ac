//! `PUT /v2/service_instances/{instance_id}`: an order.

use axum::{body::Bytes, extract::State, http::StatusCode, response::Response};
use broker::instances::{Broker, Provision};
use serde_json::json;

use super::{
    extract::{Authenticated, Body, PathParams, QueryParams},
    respond::{Refusal, answer, without_empty_fields},
};

pub(super) async fn serve(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
    bytes: Bytes,
) -> Result<Response, Refusal> {
    let request = read(path, &query, &bytes)?;
    let provisioned = broker.provision(&caller, request).await?;
    // The same order again, and the instance is complete: there is no operation to follow.
    let status =
        if provisioned.operation.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    let body = json!({
        "dashboard_url": provisioned.dashboard_url,
        "operation": provisioned.operation,
        "metadata": {"labels": provisioned.labels},
    });
    Ok(answer(status, &without_empty_fields(body)))
}

/// `PUT …/dry_run`: the same checks, and nothing is ordered. The answer has the runtime with every default filled in.
pub(super) async fn check(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
    bytes: Bytes,
) -> Result<Response, Refusal> {
    let request = read(path, &query, &bytes)?;
    let runtime = broker.check_order(&caller, &request).await?;
    Ok(answer(StatusCode::OK, &json!({"dry_run": true, "runtime": runtime})))
}

fn read(path: PathParams, query: &QueryParams, bytes: &[u8]) -> Result<Provision, Refusal> {
    let mut body = Body::read(bytes)?;
    Ok(Provision {
        instance_id: path.instance_id,
        region: path.region,
        service_id: body.text("service_id")?,
        plan_id: body.text("plan_id")?,
        context: body.object("context")?,
        parameters: body.object("parameters")?,
        maintenance_version: body.maintenance_version()?,
        accepts_incomplete: query.accepts_incomplete(),
    })
}
