//! The door: the technical user, with its secret, in every call.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Ias, error::Refusal};
use crate::presented::{basic, same};

pub(super) async fn guard(State(ias): State<Arc<Ias>>, request: Request, next: Next) -> Response {
    let known = basic(request.headers()).is_some_and(|(user, secret)| {
        user == ias.settings.user && same(&ias.settings.secret, &secret)
    });
    if known { next.run(request).await } else { Refusal::Unauthorized.into_response() }
}
