//! The door in front of a group of routes.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::header::AUTHORIZATION,
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use base::failure::chain;

use super::{Principal, TokenRejection, Verifier, scope};
use crate::{audit, error::Error};

/// Lets a request through only with a token that carries a scope, or from a trusted peer that has it; puts the [`Principal`]
/// into its extensions.
#[derive(Clone)]
pub struct RequireScope {
    verifier: Arc<Verifier>,
    scopes: Vec<&'static str>,
    /// Whether what is behind the door belongs to all tenants at once.
    operators: bool,
}

impl RequireScope {
    /// A door that opens with `scope`.
    pub fn new(verifier: Arc<Verifier>, scope: &'static str) -> Self {
        Self::any_of(verifier, &[scope])
    }

    /// A door that opens with any of these; the routes behind it look closer.
    pub fn any_of(verifier: Arc<Verifier>, scopes: &[&'static str]) -> Self {
        Self { verifier, scopes: scopes.to_vec(), operators: false }
    }

    /// A door to what belongs to all tenants at once: it opens only to a token that says it is for all of them.
    pub fn of_operators(verifier: Arc<Verifier>, scope: &'static str) -> Self {
        Self { operators: true, ..Self::new(verifier, scope) }
    }

    /// Puts the door in front of these routes. Paths that none of them serves stay outside.
    pub fn around<S: Clone + Send + Sync + 'static>(self, routes: Router<S>) -> Router<S> {
        routes.route_layer(from_fn_with_state(self, check))
    }
}

async fn check(
    State(door): State<RequireScope>,
    mut request: Request,
    next: Next,
) -> Result<Response, Error> {
    let principal = match door.verifier.peer(&request) {
        Some(peer) => peer,
        None => verified(&door.verifier, bearer(&request)).await?,
    };
    if !door.scopes.iter().any(|scope| principal.scopes.contains(*scope)) {
        tracing::info!(
            subject = principal.subject,
            groups = ?principal.groups,
            needed = ?door.scopes,
            "a token lacks a scope, and its groups do not have it"
        );
        return Err(Error::Forbidden);
    }
    let any_tenant = principal.tenant.is_none() && principal.scopes.contains(scope::ANY_TENANT);
    if door.operators && !any_tenant {
        tracing::info!(subject = principal.subject, "a token is not for all tenants");
        return Err(Error::Forbidden);
    }
    request.extensions_mut().insert(principal);
    Ok(audit::around(request, next).await)
}

async fn verified(verifier: &Verifier, token: Option<&str>) -> Result<Principal, Error> {
    let token = token.ok_or(Error::Unauthorized)?;
    verifier.verify(token).await.map_err(|denied| {
        tracing::info!(reason = chain(&denied), "a token was not accepted");
        match denied {
            TokenRejection::Unavailable(_) => Error::Unavailable,
            TokenRejection::Token(_) | TokenRejection::Signature(_) => Error::Unauthorized,
        }
    })
}

/// The token of a request with exactly one `Authorization` header.
fn bearer(request: &Request) -> Option<&str> {
    let mut headers = request.headers().get_all(AUTHORIZATION).iter();
    let (only, none) = (headers.next()?, headers.next());
    if none.is_some() {
        return None;
    }
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
