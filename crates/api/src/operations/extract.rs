//! What comes in with a request for operations; what is wrong with it is said by name.

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};
use broker::operations::view::{LARGEST_PAGE, PageAsk, State};
use domain::OperationId;

use crate::error::Error;

/// The operation that the path names.
pub(super) struct Id(pub(super) OperationId);

/// The page that the query asks for.
pub(super) struct Asked(pub(super) PageAsk);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| bad("id", "is missing or not UTF-8"))?;
        operation("id", &text).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Query(fields) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| bad("query", "cannot be read"))?;
        let mut ask = PageAsk::default();
        for (name, value) in fields {
            match name.as_str() {
                "limit" => ask.limit = limit(&value)?,
                "after" => ask.after = Some(operation("after", &value)?),
                "state" => ask.state = Some(state_named(&value)?),
                "instance" => ask.instance = Some(value),
                _ => return Err(bad("query", "has a parameter that is not known here")),
            }
        }
        Ok(Self(ask))
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
