//! `DELETE /v2/service_instances/{instance_id}`: the end of an instance.

use axum::{extract::State, http::StatusCode, response::Response};
use broker::instances::Deprovision;
use serde_json::json;

use super::{Port, answer::answer, asker::Asker, error::Refused, path::Named, query::Asked};

pub(super) async fn serve(
    State(instances): Port,
    Asker(caller): Asker,
    named: Named,
    query: Asked,
) -> Result<Response, Refused> {
    let request = Deprovision {
        instance_id: named.instance,
        service_id: query.text("service_id"),
        plan_id: query.text("plan_id"),
        accepts_incomplete: query.accepts_incomplete(),
    };
    let operation = instances.deprovision(&caller, request).await?;
    Ok(answer(StatusCode::ACCEPTED, &json!({"operation": operation})))
}
