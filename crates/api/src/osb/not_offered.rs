//! Endpoints of the specification that the catalog does not offer: updates.

use axum::{http::StatusCode, response::Response};
use serde_json::json;

use super::{extract::Authenticated, respond::answer};

/// `PATCH /v2/service_instances/{instance_id}`: the same request would be refused again, and the instance is as good as
/// before.
pub(super) async fn update(_: Authenticated) -> Response {
    let body = json!({
        "description": "instances cannot be changed: the catalog offers no updates",
        "instance_usable": true,
        "update_repeatable": false,
    });
    answer(StatusCode::UNPROCESSABLE_ENTITY, &body)
}
