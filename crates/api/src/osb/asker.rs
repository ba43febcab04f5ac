//! Who asks, and for which global account: the door decides, never the request.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, header, request::Parts},
};
use broker::instances::Caller;

use crate::{
    auth::{Platform, Principal, scope},
    error::Error,
};

const IDENTITY: HeaderName = HeaderName::from_static("x-broker-api-originating-identity");

/// Whoever asks.
pub(crate) struct Asker(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Ok(Self(Caller {
            tenant: tenant(parts)?,
            any_tenant: any_tenant(parts),
            originating_identity: text(&parts.headers, &IDENTITY),
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

/// A header as it was sent; what is not text is kept as far as it is.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned()).filter(|text| !text.is_empty())
}
