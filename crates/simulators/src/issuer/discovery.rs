//! The discovery document of the issuer.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header::HOST},
    response::{IntoResponse, Response},
};
use serde_json::json;
use url::Url;

use super::Issuer;

/// The discovery document. Requests by another name of this machine are answered with the right one: tokens name the issuer
/// exactly, and a client would refuse them later with fewer words.
pub(super) async fn document(State(issuer): State<Arc<Issuer>>, headers: HeaderMap) -> Response {
    let url = issuer.url();
    if let Some(host) = other_name(url, &headers) {
        let said = format!(
            "this issuer is {url} and not http://{host}: its tokens name it so, and clients compare the two as texts"
        );
        return (StatusCode::MISDIRECTED_REQUEST, Json(json!({ "error": said }))).into_response();
    }
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
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "nonce", "groups", "preferred_username", "login_name", "email",
            "email_verified",
        ],
        "token_endpoint_auth_methods_supported":
            ["client_secret_basic", "client_secret_post", "none"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
    }))
    .into_response()
}

/// The host of a request that means this machine and is written in another way than the issuer's.
fn other_name<'a>(url: &str, headers: &'a HeaderMap) -> Option<&'a str> {
    let own = Url::parse(url).ok()?;
    let host = headers.get(HOST)?.to_str().ok()?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_here = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    (is_here && own.host_str() != Some(name)).then_some(host)
}

/// The public keys.
pub(super) async fn keys(State(issuer): State<Arc<Issuer>>) -> Response {
    let keys = issuer.published();
    let keys: Vec<_> = keys.iter().map(|key| key.public()).collect();
    Json(json!({ "keys": keys })).into_response()
}
