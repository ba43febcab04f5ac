//! `GET /v2/service_instances/{instance_id}`: one instance.

use axum::{extract::State, http::StatusCode, response::Response};
use serde_json::json;

use super::{
    Port,
    answer::{answer, said},
    asker::Asker,
    error::Refused,
    path::Named,
};

pub(super) async fn serve(
    State(instances): Port,
    Asker(caller): Asker,
    named: Named,
) -> Result<Response, Refused> {
    let found = instances.find(&caller, &named.instance).await?;
    let body = json!({
        "service_id": found.service_id,
        "plan_id": found.plan_id,
        "dashboard_url": found.dashboard_url,
        "parameters": found.record,
        "metadata": {"labels": found.labels},
    });
    Ok(answer(StatusCode::OK, &said(body)))
}
