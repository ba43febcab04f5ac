//! Endpoints of the specification that the catalog does not offer: bindings.

use axum::{http::StatusCode, response::Response};

use super::{extract::Authenticated, respond::described};

/// `/v2/service_instances/{instance_id}/service_bindings/…`
pub(super) async fn binding(_: Authenticated) -> Response {
    let text = "binding is not supported: the catalog offers no bindable plan";
    described(StatusCode::UNPROCESSABLE_ENTITY, Some("BindingNotSupported"), text)
}
