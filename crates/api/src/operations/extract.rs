//! Path and query of requests for operations; an error names the parameter.

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};
use broker::operations::view::{LARGEST_PAGE, OperationId, PageRequest, State};

use crate::error::Error;

/// The operation that the path names.
pub(super) struct PathId(pub(super) OperationId);

/// The page that the query asks for.
pub(super) struct QueryParams(pub(super) PageRequest);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| bad("id", "is missing or not UTF-8"))?;
        operation("id", &text).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Query(fields) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| bad("query", "cannot be read"))?;
        let mut request = PageRequest::default();
        for (name, value) in fields {
            match name.as_str() {
                "limit" => request.limit = limit(&value)?,
                "after" => request.after = Some(operation("after", &value)?),
                "state" => request.state = Some(state_named(&value)?),
                "instance" => request.instance = Some(value),
                _ => return Err(bad("query", "has a parameter that is not known here")),
            }
        }
        Ok(Self(request))
    }
}

fn bad(field: &'static str, problem: impl Into<String>) -> Error {
    Error::Bad { field, problem: problem.into() }
}

fn operation(field: &'static str, text: &str) -> Result<OperationId, Error> {
    text.parse().map_err(|_| bad(field, "is not a UUID"))
}

fn limit(text: &str) -> Result<u32, Error> {
    text.parse()
        .ok()
        .filter(|limit| (1..=LARGEST_PAGE).contains(limit))
        .ok_or_else(|| bad("limit", format!("is not a number from 1 to {LARGEST_PAGE}")))
}

fn state_named(text: &str) -> Result<State, Error> {
    text.parse().map_err(|_| {
        let words = State::ALL.map(State::as_str).join(", ");
        bad("state", format!("is none of: {words}"))
    })
}
