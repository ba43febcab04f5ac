//! Refusals in the words of RFC 6749 §5.2.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

/// A token that is not given.
#[derive(Debug, thiserror::Error)]
pub(super) enum TokenError {
    /// The request cannot be understood.
    #[error("{0}")]
    InvalidRequest(&'static str),
    /// The client is unknown, or did not prove who it is.
    #[error("the client is not known or its secret is wrong")]
    InvalidClient {
        /// Whether it tried the Basic header: the answer must then name the scheme.
        basic: bool,
    },
    /// The person is unknown, or the password is wrong.
    #[error("the name or the password is wrong")]
    InvalidGrant,
    /// The client may not use this grant.
    #[error("the client may not use this grant")]
    UnauthorizedClient,
    /// The issuer does not know this grant.
    #[error("the grant type is not supported")]
    UnsupportedGrantType,
    /// More was asked for than is allowed.
    #[error("a scope is not allowed")]
    InvalidScope,
    /// The token could not be signed.
    #[error("the token could not be signed")]
    Signing(#[from] jsonwebtoken::errors::Error),
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        let (status, code) = match &self {
            Self::InvalidRequest(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::InvalidClient { .. } => (StatusCode::UNAUTHORIZED, "invalid_client"),
            Self::InvalidGrant => (StatusCode::BAD_REQUEST, "invalid_grant"),
            Self::UnauthorizedClient => (StatusCode::BAD_REQUEST, "unauthorized_client"),
            Self::UnsupportedGrantType => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
            Self::InvalidScope => (StatusCode::BAD_REQUEST, "invalid_scope"),
            Self::Signing(_) => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
        };
        let body = Json(json!({ "error": code, "error_description": self.to_string() }));
        let mut response = (status, [(header::CACHE_CONTROL, "no-store")], body).into_response();
        if let Self::InvalidClient { basic: true } = self {
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                header::HeaderValue::from_static("Basic realm=\"issuer\""),
            );
        }
        response
    }
}
