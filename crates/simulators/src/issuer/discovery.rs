//! What the issuer tells about itself to anyone who asks.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::Issuer;

/// The discovery document.
pub(super) async fn document(State(issuer): State<Arc<Issuer>>) -> Json<Value> {
    let url = issuer.url();
    Json(json!({
        "issuer": url,
        "token_endpoint": format!("{url}/oauth2/token"),
        "jwks_uri": format!("{url}/oauth2/certs"),
        "grant_types_supported": ["client_credentials", "password"],
        "token_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post", "none"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "response_types_supported": [],
        "subject_types_supported": ["public"],
    }))
}

/// The public keys.
pub(super) async fn keys(State(issuer): State<Arc<Issuer>>) -> Json<Value> {
    Json(json!({ "keys": [issuer.key.public()] }))
}
