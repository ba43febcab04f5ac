//! `PUT /expire/service_instance/{instance_id}`: the end of a trial. Its cluster goes, and does not come back.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::put,
};
use base::failure::chain;
use broker::instances::{Broker, Error};
use serde_json::{Value, json};

use crate::{
    auth::{RequireScope, Verifier, scope},
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
) -> Result<(StatusCode, Json<Value>), ErrorResponse> {
    let operation = broker.expire(&caller, &instance).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "operation": operation }))))
}

/// An instance that does not expire, in the words of this route: one text.
struct ErrorResponse(StatusCode, String);

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
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
        Self(status, error.to_string())
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let Self(status, text) = self;
        let mut response = (status, Json(json!({ "error": text }))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
