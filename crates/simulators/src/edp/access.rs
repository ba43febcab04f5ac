//! The door: a token of the issuer, with the scope for what is done.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Edp, SCOPES, error::Refusal};
use crate::presented::bearer;

pub(super) async fn guard(State(edp): State<Arc<Edp>>, request: Request, next: Next) -> Response {
    let [read, update] = SCOPES;
    let required = if request.method() == Method::GET { read } else { update };
    let token = bearer(request.headers()).and_then(|token| edp.issuer.verify(token).ok());
    match token {
        None => Refusal::Unauthorized.into_response(),
        Some(caller) if caller.scopes.iter().any(|scope| scope == required) => {
            next.run(request).await
        }
        Some(_) => Refusal::Forbidden(required).into_response(),
    }
}
