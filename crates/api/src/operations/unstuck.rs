//! What an operator does about an operation that does not go on. Each takes a reason, which is kept with the operation and in
//! the audit.

use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::State,
    http::StatusCode,
    routing::{MethodRouter, post},
};
use broker::operations::view::{Operations, Snapshot};
use serde::Deserialize;

use super::extract::PathId;
use crate::{auth::Principal, error::Error};

/// The longest reason, in characters.
pub(crate) const LONGEST_REASON: usize = 500;

type Answer = Result<(StatusCode, Json<Snapshot>), Error>;

/// The routes.
pub(crate) fn routes() -> Router<Operations> {
    let routes: [(&str, MethodRouter<Operations>); 4] = [
        ("/operations/{id}/cancel", post(cancel)),
        ("/operations/{id}/retry", post(retry)),
        ("/operations/{id}/skip", post(skip)),
        ("/operations/{id}/abandon", post(abandon)),
    ];
    routes.into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route))
}

async fn cancel(
    State(operations): State<Operations>,
    Extension(principal): Extension<Principal>,
    PathId(id): PathId,
    body: Bytes,
) -> Answer {
    let request = Request::read(&body, false)?;
    let reason = request.told("called off", &principal);
    Ok(accepted(operations.cancel(id, reason).await?))
}

async fn retry(State(operations): State<Operations>, PathId(id): PathId, body: Bytes) -> Answer {
    Request::read(&body, false)?;
    Ok(accepted(operations.retry(id).await?))
}

async fn skip(
    State(operations): State<Operations>,
    Extension(principal): Extension<Principal>,
    PathId(id): PathId,
    body: Bytes,
) -> Answer {
    let request = Request::read(&body, true)?;
    let reason = request.told("asked for", &principal);
    Ok(accepted(operations.skip(id, request.step.as_deref().unwrap_or_default(), reason).await?))
}

async fn abandon(
    State(operations): State<Operations>,
    Extension(principal): Extension<Principal>,
    PathId(id): PathId,
    body: Bytes,
) -> Answer {
    let request = Request::read(&body, false)?;
    let reason = request.told("abandoned", &principal);
    Ok(accepted(operations.abandon(id, reason).await?))
}

fn accepted(snapshot: Snapshot) -> (StatusCode, Json<Snapshot>) {
    (StatusCode::ACCEPTED, Json(snapshot))
}

/// What a request says; an empty body says nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    reason: Option<String>,
    step: Option<String>,
}

impl Request {
    fn read(body: &[u8], names_step: bool) -> Result<Self, Error> {
        let bad = |field: &'static str, problem: String| Error::Bad { field, problem };
        let request: Self = if body.is_empty() {
            Self::default()
        } else {
            serde_json::from_slice(body)
                .map_err(|error| bad("body", format!("is wrong: {error}")))?
        };
        if request.reason.as_ref().is_some_and(|it| it.chars().count() > LONGEST_REASON) {
            return Err(bad("reason", format!("is longer than {LONGEST_REASON} characters")));
        }
        if request.reason.as_ref().is_some_and(|it| it.chars().any(char::is_control)) {
            return Err(bad("reason", "has control characters".into()));
        }
        match (names_step, &request.step) {
            (true, None) => Err(bad("step", "is missing".into())),
            (false, Some(_)) => Err(bad("step", "is not known here".into())),
            _ => Ok(request),
        }
    }

    /// The reason as it is kept with the operation.
    fn told(&self, what: &str, principal: &Principal) -> String {
        let by = format!("{what} by {}", principal.subject);
        match self.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(reason) => format!("{by}: {reason}"),
            None => by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_may_be_empty_and_what_is_wrong_is_named() {
        let wrong =
            |body: &str, step| Request::read(body.as_bytes(), step).unwrap_err().to_string();

        assert!(Request::read(b"", false).unwrap().reason.is_none());
        assert_eq!(Request::read(br#"{"step": "X"}"#, true).unwrap().step.as_deref(), Some("X"));
        assert_eq!(wrong("", true), "step is missing");
        assert_eq!(wrong(r#"{"step": "X"}"#, false), "step is not known here");
        assert!(wrong(r#"{"why": "x"}"#, false).contains("unknown field `why`"));
        assert_eq!(wrong("{\"reason\": \"a\\nb\"}", false), "reason has control characters");
        let long = format!(r#"{{"reason": "{}"}}"#, "x".repeat(501));
        assert_eq!(wrong(&long, false), "reason is longer than 500 characters");
    }
}
