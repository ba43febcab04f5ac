//! Extractors of a request: its caller, path, query and body.
//!
//! What a reader would get wrong: the tenant comes from the credentials only, never from path, query or body.

use std::collections::HashMap;

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::{HeaderMap, HeaderName, header, request::Parts},
};
use broker::instances::Caller;
use serde_json::{Map, Value};

use super::respond::Refusal;
use crate::{
    auth::{Platform, Principal, scope},
    error::Error,
};

/// The identity that a platform acts for.
pub(crate) const ORIGINATING_IDENTITY: HeaderName =
    HeaderName::from_static("x-broker-api-originating-identity");

/// The caller, with the tenant that its credentials are for.
pub(crate) struct Authenticated(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Ok(Self(Caller {
            tenant: tenant(parts)?,
            any_tenant: any_tenant(parts),
            originating_identity: text(&parts.headers, &ORIGINATING_IDENTITY),
            user_agent: text(&parts.headers, &header::USER_AGENT),
        }))
    }
}

/// The only tenant that the credentials are for; none when they are for any.
fn tenant(parts: &Parts) -> Result<Option<String>, Error> {
    if let Some(principal) = parts.extensions.get::<Principal>() {
        if principal.tenant.is_none() && !principal.scopes.contains(scope::ANY_TENANT) {
            tracing::info!(subject = principal.subject, "a token names no tenant");
            return Err(Error::Forbidden);
        }
        return Ok(principal.tenant.clone());
    }
    match parts.extensions.get::<Platform>() {
        Some(platform) => Ok(platform.tenant.clone()),
        None => Err(Error::Unauthorized),
    }
}

/// Whether the credentials are a token for every tenant.
fn any_tenant(parts: &Parts) -> bool {
    let principal = parts.extensions.get::<Principal>();
    principal.is_some_and(|it| it.tenant.is_none() && it.scopes.contains(scope::ANY_TENANT))
}

/// A header as it was sent, with replacement characters for what is not UTF-8.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned()).filter(|text| !text.is_empty())
}

/// The longest name of a region.
const LONGEST_REGION: usize = 64;

/// The parameters of a path, decoded.
pub(super) struct PathParams {
    /// The platform's region, where the path has one.
    pub(super) region: Option<String>,
    /// The instance; empty where the path has none.
    pub(super) instance_id: String,
    /// The binding; empty where the path has none.
    pub(super) binding_id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for PathParams {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Path(mut names) = Path::<HashMap<String, String>>::from_request_parts(parts, state)
            .await
            .map_err(|_| Refusal::bad("the path is not UTF-8"))?;
        // An empty one is the slash at the end of a base address, as in `/oauth//v2/catalog`.
        let region = names.remove("region").filter(|region| !region.is_empty());
        let usable = |region: &String| {
            region.len() <= LONGEST_REGION
                && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        if !region.as_ref().is_none_or(usable) {
            let text = "region in the path may have letters, digits, '-', '_' and '.' only, and 64 of them";
            return Err(Refusal::bad(text));
        }
        let mut named = |name: &str| names.remove(name).unwrap_or_default();
        Ok(Self { region, instance_id: named("instance_id"), binding_id: named("binding_id") })
    }
}

/// Marks requests that are asynchronous even without `accepts_incomplete`.
#[derive(Debug, Clone, Copy)]
pub(super) struct AssumeAsync;

/// The parameters of a query, decoded. Unknown ones are ignored.
pub(super) struct QueryParams {
    fields: Vec<(String, String)>,
    assume_async: bool,
}

impl QueryParams {
    /// The first of this name that is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut named = self.fields.iter().filter(|(own, value)| own == name && !value.is_empty());
        named.next().map(|(_, value)| value.as_str())
    }

    /// The same, or an empty text.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Whether the platform supports asynchronous operations. The original broker takes the same words for true.
    pub(super) fn accepts_incomplete(&self) -> bool {
        let value = self.get("accepts_incomplete");
        let words = ["1", "t", "T", "TRUE", "true", "True"];
        self.assume_async || value.is_some_and(|value| words.contains(&value))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let assume_async = parts.extensions.get::<AssumeAsync>().is_some();
        Query::from_request_parts(parts, state)
            .await
            .map(|Query(fields)| Self { fields, assume_async })
            .map_err(|_| Refusal::bad("the query cannot be read"))
    }
}

/// The fields of a JSON body. Unknown ones are ignored; `null` counts as absent.
pub(super) struct Body(Map<String, Value>);

impl Body {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.is_empty() {
            return Err(Refusal::bad("the body is empty"));
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(mut fields)) => {
                fields.retain(|_, value| !value.is_null());
                Ok(Self(fields))
            }
            Ok(_) => Err(Refusal::bad("the body is not a JSON object")),
            Err(error) => Err(Refusal::bad(format!("the body is not JSON: {error}"))),
        }
    }

    /// A text; empty when there is none.
    pub(super) fn text(&mut self, name: &str) -> Result<String, Refusal> {
        match self.0.remove(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Refusal::bad(format!("{name} is not a string"))),
        }
    }

    /// An object.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Value>, Refusal> {
        match self.0.remove(name) {
            found @ (None | Some(Value::Object(_))) => Ok(found),
            Some(_) => Err(Refusal::bad(format!("{name} is not an object"))),
        }
    }

    /// The version of the maintenance that the platform believes in.
    pub(super) fn maintenance_version(&mut self) -> Result<Option<String>, Refusal> {
        let info = self.object("maintenance_info")?;
        let version = info.as_ref().and_then(|info| info.get("version")).and_then(Value::as_str);
        Ok(version.filter(|version| !version.is_empty()).map(str::to_owned))
    }
}
