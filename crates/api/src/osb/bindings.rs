//! `/v2/service_instances/{instance_id}/service_bindings/…`: not offered, and said so.

use axum::{http::StatusCode, response::Response};

use super::{asker::Asker, error::described};

pub(super) async fn serve(_: Asker) -> Response {
    let text = "binding is not supported: the catalog offers no bindable plan";
    described(StatusCode::UNPROCESSABLE_ENTITY, Some("BindingNotSupported"), text)
}
