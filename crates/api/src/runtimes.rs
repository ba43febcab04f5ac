//! `GET /runtimes`: what runs, page by page, with its operations; `GET /runtimes/export`: all of it.

mod export;
mod extract;

use std::sync::Arc;

use axum::{Json, Router, extract::State, http::StatusCode, routing::get};
use base::failure::chain;
use broker::{
    instances::{Broker, Error},
    runtimes::Page,
};

use crate::{
    auth::{RequireScope, Verifier, scope},
    error::ErrorText,
    osb::Authenticated,
};
use extract::RuntimesParams;

/// The services behind the API.
#[derive(Clone)]
pub struct RuntimesParts {
    /// The broker.
    pub broker: Broker,
    /// Checks tokens.
    pub verifier: Arc<Verifier>,
}

/// The route behind its door.
pub(crate) fn routes(parts: RuntimesParts) -> Router {
    let routes =
        Router::new().route("/runtimes", get(list)).route("/runtimes/export", get(export::export));
    RequireScope::new(parts.verifier, scope::RUNTIMES_READ).around(routes).with_state(parts.broker)
}

async fn list(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    RuntimesParams(ask): RuntimesParams,
) -> Result<Json<Page>, ErrorText> {
    Ok(Json(broker.runtimes(&caller, &ask).await.map_err(failed)?))
}

/// Why runtimes are not listed.
#[expect(clippy::needless_pass_by_value, reason = "stands where errors are mapped")]
fn failed(error: Error) -> ErrorText {
    match &error {
        Error::Bad(problem) => ErrorText::query(problem),
        Error::Unavailable(_) => {
            tracing::warn!(error = chain(&error), "runtimes cannot be read");
            let text = "while fetching instances: database unavailable";
            ErrorText(StatusCode::SERVICE_UNAVAILABLE, text.into())
        }
        _ => {
            tracing::error!(error = chain(&error), "runtimes cannot be read");
            let text = "while fetching instances: the request could not be completed";
            ErrorText(StatusCode::INTERNAL_SERVER_ERROR, text.into())
        }
    }
}
