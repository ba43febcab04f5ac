//! `GET /info/runtimes`: every runtime, for metering, as one list without pages.

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use base::failure::chain;
use broker::{
    instances::{Broker, Error},
    runtimes::{Runtime, RuntimeInfo},
};
use serde_json::json;

use crate::{
    auth::{RequireScope, scope},
    error::with_retry_after,
    osb::Authenticated,
    runtimes::RuntimesParts,
    streaming::{self, Writer},
};

/// The route behind its door.
pub(crate) fn routes(parts: RuntimesParts) -> Router {
    let routes = Router::new().route("/info/runtimes", get(list));
    RequireScope::new(parts.verifier, scope::CLD_READ).around(routes).with_state(parts.broker)
}

async fn list(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
) -> Response {
    let body = async { streaming::body(broker.runtime_infos(&caller)?, List::default()).await };
    match body.await {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => failed(&error, &headers),
    }
}

/// A list: its items are separated, and it is closed.
#[derive(Default)]
struct List {
    begun: bool,
}

impl Writer for List {
    fn head(&self) -> Vec<u8> {
        b"[".into()
    }

    fn page(&mut self, runtimes: Vec<Runtime>, out: &mut Vec<u8>) -> Result<(), Error> {
        for runtime in runtimes {
            if std::mem::replace(&mut self.begun, true) {
                out.push(b',');
            }
            serde_json::to_writer(&mut *out, &RuntimeInfo::from(runtime))?;
        }
        Ok(())
    }

    fn tail(&self) -> &'static [u8] {
        b"]\n"
    }
}

/// A failure in the words of this route. What went wrong is in the log, not in the answer.
fn failed(error: &Error, headers: &HeaderMap) -> Response {
    tracing::error!(error = chain(error), "runtimes cannot be read");
    let status = match error {
        Error::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let request = headers.get("x-request-id").and_then(|value| value.to_str().ok());
    let body = json!({
        "status": status.as_u16(),
        "requestId": request.unwrap_or_default(),
        "message": "Something went very wrong. Please try again.",
    });
    let response = (status, Json(body)).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        return with_retry_after(response);
    }
    response
}
