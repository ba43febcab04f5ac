//! `PATCH /v2/service_instances/{instance_id}`: not offered, and said so.

use axum::{http::StatusCode, response::Response};
use serde_json::json;

use super::{answer::answer, asker::Asker};

/// The same request would be refused again, and the instance is as good as before.
pub(super) async fn serve(_: Asker) -> Response {
    let body = json!({
        "description": "instances cannot be changed: the catalog offers no updates",
        "instance_usable": true,
        "update_repeatable": false,
    });
    answer(StatusCode::UNPROCESSABLE_ENTITY, &body)
}
