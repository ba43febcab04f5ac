//! `GET /runtimes`: what runs, page by page, with its operations; `GET /runtimes/export`: all of it.

mod export;
mod extract;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use base::failure::chain;
use broker::{
    instances::{Broker, Error},
    runtimes::Page,
};
use serde_json::json;

use crate::{
    auth::{RequireScope, Verifier, scope},
    osb::Authenticated,
};
use extract::RuntimesParams;

/// The services behind the API.
#[derive(Clone)]
pub struct Parts {
    /// The broker.
    pub broker: Broker,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
}

/// The route behind its door.
pub(crate) fn routes(parts: Parts) -> Router {
    let routes =
        Router::new().route("/runtimes", get(list)).route("/runtimes/export", get(export::export));
    RequireScope::new(parts.verifier, scope::RUNTIMES_READ).around(routes).with_state(parts.broker)
}

async fn list(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    RuntimesParams(ask): RuntimesParams,
) -> Result<Json<Page>, ErrorResponse> {
    Ok(Json(broker.runtimes(&caller, &ask).await?))
}

/// A request that is not answered as asked, in the words of this route: one text.
struct ErrorResponse(StatusCode, String);

impl ErrorResponse {
    /// A parameter is wrong; `problem` names it.
    fn query(problem: impl std::fmt::Display) -> Self {
        Self(StatusCode::BAD_REQUEST, format!("while getting query parameters: {problem}"))
    }
}

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        match &error {
            Error::Bad(problem) => Self::query(problem),
            Error::Unavailable(_) => {
                tracing::warn!(error = chain(&error), "runtimes cannot be read");
                let text = "while fetching instances: database unavailable";
                Self(StatusCode::SERVICE_UNAVAILABLE, text.into())
            }
            _ => {
                tracing::error!(error = chain(&error), "runtimes cannot be read");
                let text = "while fetching instances: the request could not be completed";
                Self(StatusCode::INTERNAL_SERVER_ERROR, text.into())
            }
        }
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
