//! The door: any good token of the issuer opens it.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Avs, error::Refusal};
use crate::presented::bearer;

pub(super) async fn guard(State(avs): State<Arc<Avs>>, request: Request, next: Next) -> Response {
    let token = bearer(request.headers());
    if token.is_some_and(|token| avs.issuer.verify(token).is_ok()) {
        next.run(request).await
    } else {
        Refusal::Unauthorized.into_response()
    }
}
