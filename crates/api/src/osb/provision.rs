//! `PUT /v2/service_instances/{instance_id}`: an order.

use axum::{body::Bytes, extract::State, http::StatusCode, response::Response};
use broker::instances::Provision;
use serde_json::{Value, json};

use super::{
    Port,
    answer::{answer, said},
    asker::Asker,
    body::Body,
    error::Refused,
    path::Named,
    query::Asked,
};

pub(super) async fn serve(
    State(instances): Port,
    Asker(caller): Asker,
    named: Named,
    query: Asked,
    bytes: Bytes,
) -> Result<Response, Refused> {
    let request = read(named, &query, &bytes)?;
    let provisioned = instances.provision(&caller, request).await?;
    // Complete already, and ordered with the same words: there is no operation to follow.
    let status =
        if provisioned.operation.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    let body = json!({
        "dashboard_url": provisioned.dashboard_url,
        "operation": provisioned.operation,
        "metadata": {"labels": provisioned.labels},
    });
    Ok(answer(status, &said(body)))
}

fn read(named: Named, query: &Asked, bytes: &[u8]) -> Result<Provision, Refused> {
    let mut body = Body::read(bytes)?;
    let maintenance = body.object("maintenance_info")?;
    let version = maintenance.as_ref().and_then(|info| info.get("version")).and_then(Value::as_str);
    Ok(Provision {
        instance_id: named.instance,
        region: named.region,
        service_id: body.text("service_id")?,
        plan_id: body.text("plan_id")?,
        context: body.object("context")?,
        parameters: body.object("parameters")?,
        maintenance_version: version.filter(|version| !version.is_empty()).map(str::to_owned),
        accepts_incomplete: query.accepts_incomplete(),
    })
}
