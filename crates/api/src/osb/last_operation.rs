//! `GET /v2/service_instances/{instance_id}/last_operation`: how far an operation is.

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::json;

use super::{
    Port,
    answer::{answer, said},
    asker::Asker,
    error::Refused,
    path::Named,
    query::Asked,
};

pub(super) async fn serve(
    State(instances): Port,
    Asker(caller): Asker,
    named: Named,
    query: Asked,
) -> Result<Response, Refused> {
    let operation = query.get("operation");
    let last = instances.last_operation(&caller, &named.instance, operation).await?;
    let body = json!({
        "state": last.progress.as_str(),
        "description": last.description,
        "instance_usable": last.instance_usable,
    });
    let mut response = answer(StatusCode::OK, &said(body));
    if let Some(after) = last.retry_after {
        let seconds = HeaderValue::from(after.as_secs().max(1));
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    Ok(response)
}
