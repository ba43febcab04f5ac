//! `DELETE /v2/service_instances/{instance_id}`: the removal of an instance.

use axum::{extract::State, http::StatusCode, response::Response};
use broker::instances::{Broker, Deprovision};
use serde_json::json;

use super::{
    extract::{Authenticated, PathParams, QueryParams},
    respond::{Refusal, answer},
};

pub(super) async fn serve(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
) -> Result<Response, Refusal> {
    let request = Deprovision {
        instance_id: path.instance_id,
        service_id: query.text("service_id"),
        plan_id: query.text("plan_id"),
        accepts_incomplete: query.accepts_incomplete(),
    };
    let operation = broker.deprovision(&caller, request).await?;
    Ok(answer(StatusCode::ACCEPTED, &json!({"operation": operation})))
}
