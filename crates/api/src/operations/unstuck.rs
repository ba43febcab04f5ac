//! What an operator does about an operation that does not go on. Each needs a reason, which is kept with the operation (of a retry,
//! in the audit only) and in the audit.

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
    let reason = request.reason_text("called off", &principal);
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
    let reason = request.reason_text("asked for", &principal);
    Ok(accepted(operations.skip(id, request.step.as_deref().unwrap_or_default(), reason).await?))
}

async fn abandon(
    State(operations): State<Operations>,
    Extension(principal): Extension<Principal>,
    PathId(id): PathId,
    body: Bytes,
) -> Answer {
    let request = Request::read(&body, false)?;
    let reason = request.reason_text("abandoned", &principal);
    Ok(accepted(operations.abandon(id, reason).await?))
}

fn accepted(snapshot: Snapshot) -> (StatusCode, Json<Snapshot>) {
    (StatusCode::ACCEPTED, Json(snapshot))
}

/// The body of a request.
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
        match (names_step, &request.step) {
            (true, None) => return Err(bad("step", "is missing".into())),
            (false, Some(_)) => return Err(bad("step", "is not known here".into())),
            _ => {}
        }
        let reason = request.reason();
        if reason.trim().is_empty() {
            return Err(bad("reason", "is missing: it is kept in the audit".into()));
        }
        if reason.chars().count() > LONGEST_REASON {
            return Err(bad("reason", format!("is longer than {LONGEST_REASON} characters")));
        }
        if reason.chars().any(char::is_control) {
            return Err(bad("reason", "has control characters".into()));
        }
        Ok(request)
    }

    fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }

    /// The reason as it is kept with the operation.
    fn reason_text(&self, what: &str, principal: &Principal) -> String {
        format!("{what} by {}: {}", principal.subject, self.reason().trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_needs_a_reason_and_what_is_wrong_is_named() {
        let wrong =
            |body: &str, step| Request::read(body.as_bytes(), step).unwrap_err().to_string();

        let given = Request::read(br#"{"reason": "stuck"}"#, false).unwrap();
        assert_eq!((given.reason(), &given.step), ("stuck", &None));
        let skip = Request::read(br#"{"step": "X", "reason": "gone"}"#, true).unwrap();
        assert_eq!(skip.step.as_deref(), Some("X"));
        for body in ["", "{}", r#"{"reason": null}"#, r#"{"reason": "  "}"#] {
            assert_eq!(wrong(body, false), "reason is missing: it is kept in the audit", "{body}");
        }
        assert!(wrong(r#"{"step": "X"}"#, true).starts_with("reason is missing"));
        assert!(wrong(r#"{"reason": 7}"#, false).starts_with("body is wrong"));
        assert_eq!(wrong(r#"{"reason": "gone"}"#, true), "step is missing");
        assert_eq!(wrong(r#"{"step": "X", "reason": "x"}"#, false), "step is not known here");
        assert!(wrong(r#"{"why": "x"}"#, false).contains("unknown field `why`"));
        assert_eq!(wrong("{\"reason\": \"a\\nb\"}", false), "reason has control characters");
        let of = |length: usize| format!(r#"{{"reason": "{}"}}"#, "x".repeat(length));
        assert_eq!(wrong(&of(501), false), "reason is longer than 500 characters");
        assert!(Request::read(of(500).as_bytes(), false).is_ok());
    }
}
