//! `GET /events`: what happened to instances, in the form that known clients read: a list whose fields begin with capitals, errors
//! as plain text. `GET /audit/verify`: whether the audit is what it was.

use axum::{
    Json, Router,
    extract::{FromRequestParts, Query, State},
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
    routing::get,
};
use base::failure::chain;
use broker::{
    instances::Broker,
    operations::view::{HistoryEvent, OperationId, Operations, OperationsError, Verification},
};
use uuid::Uuid;

use crate::error::{Error, HasBody, with_retry_after};

/// How many ids of one sort a request may name.
const MOST: usize = 500;

/// The services behind the routes.
#[derive(Clone)]
pub(crate) struct Services {
    pub(crate) operations: Operations,
    /// Knows which instance a runtime is of; in the provisioner, runtimes are what operations work on.
    pub(crate) broker: Option<Broker>,
}

pub(crate) fn events() -> Router<Services> {
    Router::new().route("/events", get(list))
}

pub(crate) fn verification() -> Router<Services> {
    Router::new().route("/audit/verify", get(verify))
}

async fn list(
    State(services): State<Services>,
    chosen: EventSelection,
) -> Result<Json<Vec<HistoryEvent>>, ErrorResponse> {
    let names_instances = !chosen.instances.is_empty() || !chosen.runtimes.is_empty();
    let mut instances = chosen.instances;
    match &services.broker {
        Some(broker) => {
            for runtime in chosen.runtimes {
                let found = broker.instance_of(runtime).await;
                instances.extend(found.map_err(|error| ErrorResponse::unavailable(&error))?);
            }
        }
        None => instances.extend(chosen.runtimes.iter().map(ToString::to_string)),
    }
    // Runtimes of no instance have no events; they do not widen the selection to all.
    if names_instances && instances.is_empty() {
        return Ok(Json(Vec::new()));
    }
    let events = services.operations.history(&instances, &chosen.operations).await;
    Ok(Json(events.map_err(|error| ErrorResponse::unavailable(&error))?))
}

async fn verify(State(services): State<Services>) -> Result<Json<Verification>, Error> {
    let verified = services.operations.audit().verify().await.map_err(OperationsError::from);
    Ok(Json(verified?))
}

/// The selected instances, those of the selected runtimes included, and operations. With both, of the operations only those of one of
/// the instances; without any, the latest events of all.
struct EventSelection {
    instances: Vec<String>,
    runtimes: Vec<Uuid>,
    operations: Vec<OperationId>,
}

impl<S: Send + Sync> FromRequestParts<S> for EventSelection {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        let Query(fields) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ErrorResponse::bad("the query cannot be read"))?;
        let mut chosen = Self { instances: vec![], runtimes: vec![], operations: vec![] };
        for (name, value) in fields {
            let values = value.split(',').map(str::trim).filter(|value| !value.is_empty());
            match name.as_str() {
                "instance_ids" => chosen.instances.extend(values.map(str::to_owned)),
                "runtime_ids" => chosen.runtimes.extend(ids(&name, values)?),
                "operation_ids" => chosen.operations.extend(ids(&name, values)?),
                other => return Err(ErrorResponse::bad(&format!("\"{other}\" is not known here"))),
            }
        }
        let Self { instances, runtimes, operations } = &chosen;
        for (name, count) in [
            ("instance_ids", instances.len()),
            ("runtime_ids", runtimes.len()),
            ("operation_ids", operations.len()),
        ] {
            if count > MOST {
                return Err(ErrorResponse::bad(&format!("{name} names more than {MOST}")));
            }
        }
        Ok(chosen)
    }
}

fn ids<'a>(name: &str, values: impl Iterator<Item = &'a str>) -> Result<Vec<Uuid>, ErrorResponse> {
    let id = |value: &str| {
        value.parse().map_err(|_| ErrorResponse::bad(&format!("{name}: \"{value}\" is not a UUID")))
    };
    values.map(id).collect()
}

/// A request that is not answered as asked, in the words of this route: plain text.
struct ErrorResponse(StatusCode, String);

impl ErrorResponse {
    fn bad(problem: &str) -> Self {
        Self(StatusCode::BAD_REQUEST, format!("while getting query parameters: {problem}"))
    }

    fn unavailable(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::warn!(error = chain(error), "events cannot be read");
        Self(StatusCode::SERVICE_UNAVAILABLE, "while listing events: database unavailable".into())
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let mut response = (self.0, self.1).into_response();
        response.extensions_mut().insert(HasBody);
        if self.0 == StatusCode::SERVICE_UNAVAILABLE {
            return with_retry_after(response);
        }
        response
    }
}
