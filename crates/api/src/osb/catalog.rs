//! `GET /v2/catalog`: what can be ordered.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{Port, answer::answer, path::Named};

pub(super) async fn serve(State(instances): Port, named: Named) -> Response {
    answer(StatusCode::OK, &instances.catalog(named.region.as_deref()))
}
