//! What a path names.

use std::collections::HashMap;

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

use super::error::Refused;

/// The longest name of a region.
const LONGEST_REGION: usize = 64;

/// The names in a path, decoded.
pub(super) struct Named {
    /// The platform's region, where the path has one.
    pub(super) region: Option<String>,
    /// The instance; empty where the path has none.
    pub(super) instance: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        let Path(mut names) = Path::<HashMap<String, String>>::from_request_parts(parts, state)
            .await
            .map_err(|_| Refused::bad("the path is not UTF-8"))?;
        // An empty one is the slash at the end of a base address, as in `/oauth//v2/catalog`.
        let region = names.remove("region").filter(|region| !region.is_empty());
        let usable = |region: &String| {
            region.len() <= LONGEST_REGION
                && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        if !region.as_ref().is_none_or(usable) {
            let text = "region in the path may have letters, digits, '-', '_' and '.' only, and 64 of them";
            return Err(Refused::bad(text));
        }
        Ok(Self { region, instance: names.remove("instance_id").unwrap_or_default() })
    }
}
