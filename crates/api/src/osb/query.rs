//! What stands behind the question mark. Unknown names are left alone.

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};

use super::error::Refused;

/// Marks requests whose `accepts_incomplete` does not matter: each platform is taken for one that can wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct AssumeAsync;

/// The parameters of a query, decoded.
pub(super) struct Asked {
    fields: Vec<(String, String)>,
    assume_async: bool,
}

impl Asked {
    /// The first of this name that says something.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.fields.iter().filter(|(own, value)| own == name && !value.is_empty());
        named.next().map(|(_, value)| value.as_str())
    }

    /// The same, or an empty text.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Whether the platform can wait. The words are those that the reference takes for true.
    pub(super) fn accepts_incomplete(&self) -> bool {
        let said = self.get("accepts_incomplete");
        let words = ["1", "t", "T", "TRUE", "true", "True"];
        self.assume_async || said.is_some_and(|said| words.contains(&said))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let assume_async = parts.extensions.get::<AssumeAsync>().is_some();
        Query::from_request_parts(parts, state)
            .await
            .map(|Query(fields)| Self { fields, assume_async })
            .map_err(|_| Refused::bad("the query cannot be read"))
    }
}
