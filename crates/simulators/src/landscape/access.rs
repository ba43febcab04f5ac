//! Access to the landscape: reading and changing.
//!
//! Tokens are checked in the process, and those that trouble has ended are good here: trouble with the issuer must not
//! lock out the caller that made it.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header::AUTHORIZATION},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Landscape, READ, WRITE, error::Error};

pub(super) async fn guard(
    State(landscape): State<Arc<Landscape>>,
    request: Request,
    next: Next,
) -> Response {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let required = if changes { WRITE } else { READ };
    match check(&landscape, request.headers(), required) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn check(landscape: &Landscape, headers: &HeaderMap, required: &'static str) -> Result<(), Error> {
    let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let token = header
        .and_then(|header| header.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .ok_or(Error::NoToken)?;
    let caller = landscape.issuer.verify_despite_trouble(token)?;
    if caller.scopes.iter().any(|scope| scope == required) {
        Ok(())
    } else {
        Err(Error::Scope(required))
    }
}
