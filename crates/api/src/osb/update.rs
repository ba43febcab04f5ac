//! `PATCH /v2/service_instances/{instance_id}`: a change of an instance.

use axum::{body::Bytes, extract::State, http::StatusCode, response::Response};
use broker::instances::{AccountMove, Broker, Update};
use serde_json::json;

use super::{
    extract::{Authenticated, Body, PathParams, QueryParams},
    respond::{Refusal, answer, without_empty_fields},
};
use crate::audit::AuditNote;

pub(super) async fn serve(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
    bytes: Bytes,
) -> Result<Response, Refusal> {
    let request = read(path, &query, &bytes)?;
    let updated = broker.update(&caller, request).await?;
    let status = if updated.operation.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    let body = json!({
        "dashboard_url": updated.dashboard_url,
        "operation": updated.operation,
        "metadata": {"labels": updated.labels},
    });
    let mut response = answer(status, &without_empty_fields(body));
    if let Some(AccountMove { from, to }) = updated.moved {
        let note = format!("moved from global account {from} to {to}");
        response.extensions_mut().insert(AuditNote(note));
    }
    Ok(response)
}

/// `PATCH …/dry_run`: the same checks, and nothing is changed.
pub(super) async fn check(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
    bytes: Bytes,
) -> Result<Response, Refusal> {
    let request = read(path, &query, &bytes)?;
    let effect = broker.check_change(&caller, &request).await?;
    Ok(answer(StatusCode::OK, &json!({"dry_run": true, "changes": effect.as_str()})))
}

fn read(path: PathParams, query: &QueryParams, bytes: &[u8]) -> Result<Update, Refusal> {
    let mut body = Body::read(bytes)?;
    Ok(Update {
        instance_id: path.instance_id,
        service_id: body.text("service_id")?,
        plan_id: body.text("plan_id")?,
        context: body.object("context")?,
        parameters: body.object("parameters")?,
        maintenance_version: body.maintenance_version()?,
        accepts_incomplete: query.accepts_incomplete(),
    })
}
