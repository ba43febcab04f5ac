//! Who looks at the console, and what they may see and do: the same scopes as for the API.

use std::collections::BTreeSet;

use axum::{
    extract::{FromRequestParts, Request},
    http::{StatusCode, header::HOST, request},
    middleware::Next,
    response::{IntoResponse, Response},
};
use broker::instances::Caller;
use jiff::Timestamp;

use crate::error::PageError;

pub(crate) const RUNTIMES_READ: &str = "runtimes:read";
pub(crate) const OPERATIONS_READ: &str = "operations:read";
pub(crate) const OPERATIONS_WRITE: &str = "operations:write";
pub(crate) const ORCHESTRATIONS_READ: &str = "orchestrations:read";
pub(crate) const ORCHESTRATIONS_WRITE: &str = "orchestrations:write";
pub(crate) const BROKER_WRITE: &str = "broker:write";
pub(crate) const KUBECONFIG_READ: &str = "kubeconfig:read";
const ANY_TENANT: &str = "tenants:any";

/// The scopes that pages ask for.
pub const SCOPES: [&str; 8] = [
    RUNTIMES_READ,
    OPERATIONS_READ,
    OPERATIONS_WRITE,
    ORCHESTRATIONS_READ,
    ORCHESTRATIONS_WRITE,
    BROKER_WRITE,
    KUBECONFIG_READ,
    ANY_TENANT,
];

/// A user of the console.
#[derive(Debug, Clone)]
pub struct Person {
    /// The user's name.
    pub name: String,
    /// The issuer that vouches for them.
    pub issuer: String,
    /// The user's scopes.
    pub scopes: BTreeSet<String>,
    /// The only global account that they may speak for.
    pub tenant: Option<String>,
    /// Until when their session lasts; none for the development identity.
    pub until: Option<Timestamp>,
    /// The token that the user's forms carry: a foreign page does not know it.
    pub form: String,
}

impl Person {
    /// Someone at the machine on which everything runs: all scopes, for all tenants.
    pub fn developer(form: String) -> Self {
        let scopes = SCOPES.map(str::to_owned).into();
        let issuer = "this machine".into();
        Self { name: "developer".into(), issuer, scopes, tenant: None, until: None, form }
    }

    /// Whether this is the development identity.
    pub(crate) fn is_developer(&self) -> bool {
        self.until.is_none()
    }

    /// Whether they may do this for their own tenant, or for all of them.
    pub(crate) fn may(&self, scope: &str) -> bool {
        self.scopes.contains(scope) && (self.tenant.is_some() || self.any_tenant())
    }

    /// Whether they may do this where the data of all tenants is together.
    pub(crate) fn operates(&self, scope: &str) -> bool {
        self.scopes.contains(scope) && self.any_tenant()
    }

    /// Refuses users without the scope.
    pub(crate) fn must(&self, scope: &'static str) -> Result<(), PageError> {
        if self.may(scope) { Ok(()) } else { Err(PageError::Forbidden(scope)) }
    }

    /// Refuses users without the scope, where the data of all tenants is together.
    pub(crate) fn must_operate(&self, scope: &'static str) -> Result<(), PageError> {
        if self.operates(scope) { Ok(()) } else { Err(PageError::Forbidden(scope)) }
    }

    /// The same person as the broker's use cases know callers.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            tenant: self.tenant.clone(),
            any_tenant: self.any_tenant(),
            originating_identity: None,
            user_agent: Some(format!("kcp-console ({})", self.name)),
        }
    }

    fn any_tenant(&self) -> bool {
        self.tenant.is_none() && self.scopes.contains(ANY_TENANT)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Person {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut request::Parts, _: &S) -> Result<Self, Response> {
        let known = parts.extensions.get::<Self>().cloned();
        known.ok_or_else(|| PageError::SignedOut.into_response())
    }
}

/// Refuses requests that did not ask for this machine by name: a page from elsewhere can send a browser here under its own
/// name, and that name is not ours.
pub async fn this_machine(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if !["127.0.0.1", "localhost", "[::1]"].contains(&name) {
        return StatusCode::FORBIDDEN.into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(scopes: &[&str], tenant: Option<&str>) -> Person {
        let scopes = scopes.iter().map(ToString::to_string).collect();
        Person { scopes, tenant: tenant.map(str::to_owned), ..Person::developer("x".into()) }
    }

    #[test]
    fn a_scope_counts_for_a_tenant_or_with_the_scope_for_all_tenants() {
        assert!(person(&[RUNTIMES_READ], Some("ga")).may(RUNTIMES_READ));
        assert!(person(&[RUNTIMES_READ, ANY_TENANT], None).may(RUNTIMES_READ));
        assert!(!person(&[RUNTIMES_READ], None).may(RUNTIMES_READ));
        assert!(!person(&[ANY_TENANT], None).may(RUNTIMES_READ));
    }

    #[test]
    fn operators_have_no_tenant() {
        assert!(person(&[OPERATIONS_READ, ANY_TENANT], None).operates(OPERATIONS_READ));
        assert!(!person(&[OPERATIONS_READ, ANY_TENANT], Some("ga")).operates(OPERATIONS_READ));
        assert!(!person(&[OPERATIONS_READ], None).operates(OPERATIONS_READ));
    }
}
