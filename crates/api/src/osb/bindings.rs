//! `/v2/service_instances/{instance_id}/service_bindings/{binding_id}`: credentials, their end, and what there is of them.

use axum::{body::Bytes, extract::State, http::StatusCode, response::Response};
use broker::bindings::{Bind, BindingCredentials, Bindings, Unbind};
use jiff::{Timestamp, Unit};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{
    extract::{Authenticated, Body, PathParams, QueryParams},
    respond::{Refusal, answer},
};

/// `PUT`
pub(super) async fn bind(
    State(bindings): State<Bindings>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    bytes: Bytes,
) -> Result<Response, Refusal> {
    let mut body = Body::read(&bytes)?;
    let predecessor = body.text("predecessor_binding_id")?;
    let request = Bind {
        instance_id: path.instance_id,
        binding_id: path.binding_id,
        service_id: body.text("service_id")?,
        plan_id: body.text("plan_id")?,
        parameters: body.object("parameters")?,
        predecessor: Some(predecessor).filter(|id| !id.is_empty()),
    };
    body.object("context")?;
    let bound = bindings.bind(&caller, request).await?;
    let status = if bound.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(answer(status, &credentials(&bound)))
}

/// `GET`
pub(super) async fn find(
    State(bindings): State<Bindings>,
    Authenticated(caller): Authenticated,
    path: PathParams,
) -> Result<Response, Refusal> {
    let bound = bindings.find(&caller, &path.instance_id, &path.binding_id).await?;
    let mut body = credentials(&bound);
    body["parameters"] = json!({"expiration_seconds": bound.lifetime.as_secs()});
    Ok(answer(StatusCode::OK, &body))
}

/// `DELETE`
pub(super) async fn unbind(
    State(bindings): State<Bindings>,
    Authenticated(caller): Authenticated,
    path: PathParams,
    query: QueryParams,
) -> Result<Response, Refusal> {
    let request = Unbind {
        instance_id: path.instance_id,
        binding_id: path.binding_id,
        service_id: query.text("service_id"),
        plan_id: query.text("plan_id"),
    };
    bindings.unbind(&caller, request).await?;
    Ok(answer(StatusCode::OK, &json!({})))
}

/// `GET …/last_operation`
pub(super) async fn last_operation(
    State(bindings): State<Bindings>,
    Authenticated(caller): Authenticated,
    path: PathParams,
) -> Result<Response, Refusal> {
    let last = bindings.last_operation(&caller, &path.instance_id, &path.binding_id).await?;
    let body = json!({"state": last.progress.as_str(), "description": last.description});
    Ok(answer(StatusCode::OK, &body))
}

fn credentials(bound: &BindingCredentials) -> Value {
    json!({
        "credentials": {"kubeconfig": bound.kubeconfig.expose_secret()},
        "metadata": {"expires_at": written(bound.expires_at), "renew_before": written(bound.renew_before)},
    })
}

/// As the protocol writes times: with a fraction of one digit.
fn written(time: Timestamp) -> String {
    let whole = time.round(Unit::Second).unwrap_or(time);
    format!("{}.0Z", whole.strftime("%Y-%m-%dT%H:%M:%S"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_fraction_of_one_digit() {
        let time: Timestamp = "2026-01-02T15:04:05Z".parse().unwrap();

        assert_eq!(written(time), "2026-01-02T15:04:05.0Z");
    }
}
