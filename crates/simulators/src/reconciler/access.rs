//! Access: every caller inside of the control plane, and operators with a token from outside.
//!
//! What a reader would get wrong: a request without a token counts as coming from the control plane. The real Reconciler
//! lies behind a mesh that lets no other request without a token through.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Reconciler, error::Refusal};
use crate::presented::bearer;

/// The group of outside callers.
const OPERATORS: &str = "runtimeOperator";

pub(super) async fn guard(
    State(reconciler): State<Arc<Reconciler>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(token) = bearer(request.headers()) {
        let refusal = match reconciler.issuer.verify(token) {
            Err(error) => Some(Refusal::Unauthorized(error.to_string())),
            Ok(who) if !who.groups.iter().any(|group| group == OPERATORS) => {
                Some(Refusal::Forbidden(format!("the group {OPERATORS} is needed")))
            }
            Ok(_) => None,
        };
        if let Some(refusal) = refusal {
            return refusal.into_response();
        }
    }
    next.run(request).await
}
