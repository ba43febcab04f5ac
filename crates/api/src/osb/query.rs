//! What stands behind the question mark. Unknown names are left alone.

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};

use super::error::Refused;

/// The parameters of a query, decoded.
pub(super) struct Asked(Vec<(String, String)>);

impl Asked {
    /// The first of this name that says something.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(own, value)| own == name && !value.is_empty());
        named.next().map(|(_, value)| value.as_str())
    }

    /// The same, or an empty text.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Whether the platform can wait. The words are those that the reference takes for true.
    pub(super) fn accepts_incomplete(&self) -> bool {
        let said = self.get("accepts_incomplete");
        said.is_some_and(|said| ["1", "t", "T", "TRUE", "true", "True"].contains(&said))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        Query::from_request_parts(parts, state)
            .await
            .map(|Query(fields)| Self(fields))
            .map_err(|_| Refused::bad("the query cannot be read"))
    }
}
