//! The door: the token, in every call.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Lms, error::Refusal};
use crate::presented::same;

pub(super) async fn guard(State(lms): State<Arc<Lms>>, request: Request, next: Next) -> Response {
    let token = request.headers().get("x-lms-token").and_then(|token| token.to_str().ok());
    if !token.is_some_and(|token| same(&lms.settings.token, token)) {
        return Refusal::Unauthorized.into_response();
    }
    match lms.settle() {
        Ok(()) => next.run(request).await,
        Err(error) => Refusal::from(error).into_response(),
    }
}
