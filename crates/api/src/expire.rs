//! `PUT /expire/service_instance/{instance_id}`: the end of a trial. Its cluster goes, and does not come back.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::put,
};
use base::failure::chain;
use broker::instances::{Broker, Error};
use serde_json::{Value, json};

use crate::{
    auth::{RequireScope, Verifier, scope},
    error::ErrorText,
    osb::Authenticated,
};

/// The route behind its door.
pub(crate) fn routes(broker: Broker, verifier: Arc<Verifier>) -> Router {
    let routes = Router::new().route("/expire/service_instance/{instance_id}", put(expire));
    RequireScope::new(verifier, scope::BROKER_WRITE).around(routes).with_state(broker)
}

async fn expire(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    Path(instance): Path<String>,
) -> Result<(StatusCode, Json<Value>), ErrorText> {
    let operation = broker.expire(&caller, &instance).await.map_err(failed)?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "operation": operation }))))
}

/// Why an instance does not expire.
#[expect(clippy::needless_pass_by_value, reason = "stands where errors are mapped")]
fn failed(error: Error) -> ErrorText {
    let status = match &error {
        Error::Bad(_) => StatusCode::BAD_REQUEST,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::Busy | Error::Unchangeable(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Error::Unavailable(_) => {
            tracing::warn!(error = chain(&error), "an instance cannot be expired");
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => {
            tracing::error!(error = chain(&error), "an instance cannot be expired");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    };
    ErrorText(status, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_why_an_instance_does_not_expire_has_its_status() {
        let trouble = || Box::new(std::io::Error::other("down"));
        for (error, status) in [
            (Error::Bad("unsupported plan: aws".into()), 400),
            (Error::NotFound("i-1".into()), 404),
            (Error::Busy, 422),
            (Error::Unchangeable("it is being removed".into()), 422),
            (Error::Unavailable(trouble()), 503),
            (Error::AsyncRequired, 500),
        ] {
            let shown = error.to_string();

            assert_eq!(failed(error).0.as_u16(), status, "{shown}");
        }
    }
}
