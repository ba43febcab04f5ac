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
        "authorization_endpoint": format!("{url}/oauth2/authorize"),
        "device_authorization_endpoint": format!("{url}/oauth2/device_authorization"),
        "token_endpoint": format!("{url}/oauth2/token"),
        "jwks_uri": format!("{url}/oauth2/certs"),
        "grant_types_supported": [
            "authorization_code",
            "refresh_token",
            "client_credentials",
            "password",
            "urn:ietf:params:oauth:grant-type:device_code",
        ],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["openid", "profile", "email", "groups", "offline_access"],
        "token_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post", "none"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
    }))
}

/// The public keys.
pub(super) async fn keys(State(issuer): State<Arc<Issuer>>) -> Json<Value> {
    let keys = issuer.published();
    let keys: Vec<_> = keys.iter().map(|key| key.public()).collect();
    Json(json!({ "keys": keys }))
}
