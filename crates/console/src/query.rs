//! What the address of a page says behind its `?`.
//!
//! What a reader would get wrong: an address is typed and shared by people, so one that cannot be read is answered with a page, not with
//! an error of the API.

use std::error::Error as _;

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::de::DeserializeOwned;

use crate::error::PageError;

/// The fields of a page's address.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let read = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let axum::extract::Query(fields) = read.map_err(|error| {
            let field = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            PageError::Bad(format!("The address of the page cannot be read: {field}."))
        })?;
        Ok(Self(fields))
    }
}
