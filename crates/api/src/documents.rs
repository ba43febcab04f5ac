//! `GET /openapi/…`: the documents of this service's own API, for everybody.

use axum::{Router, http::header, response::IntoResponse, routing::get};

const ANSWERS: &str = include_str!("../../../docs/openapi/answers.yaml");
const OSB: &str = include_str!("../../../docs/openapi/osb.yaml");
const RUNTIMES: &str = include_str!("../../../docs/openapi/runtimes.yaml");
const ORCHESTRATIONS: &str = include_str!("../../../docs/openapi/orchestrations.yaml");
const OPERATORS: &str = include_str!("../../../docs/openapi/operators.yaml");
const PROVISIONER: &str = include_str!("../../../docs/openapi/provisioner.yaml");

pub(crate) fn routes() -> Router {
    Router::new()
        .route("/openapi/answers.yaml", get(async || document(ANSWERS)))
        .route("/openapi/osb.yaml", get(async || document(OSB)))
        .route("/openapi/runtimes.yaml", get(async || document(RUNTIMES)))
        .route("/openapi/orchestrations.yaml", get(async || document(ORCHESTRATIONS)))
        .route("/openapi/operators.yaml", get(async || document(OPERATORS)))
}

/// The document of the provisioner.
pub(crate) fn of_provisioner() -> Router {
    Router::new().route("/openapi/provisioner.yaml", get(async || document(PROVISIONER)))
}

fn document(text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/yaml")], text)
}
