//! The parts of a page's address that name something: an instance, an operation, a job.
//!
//! What a reader would get wrong: a part that cannot be decoded names nothing that exists, so it is answered with the page for that, not
//! with an error of the API.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::de::DeserializeOwned;

use crate::error::PageError;

/// The named parts of a page's address.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, PageError> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let missing = |_| PageError::Missing(format!("page {}", parts.uri.path()));
        read.map(|axum::extract::Path(named)| Self(named)).map_err(missing)
    }
}
