//! Refusals in the words of RFC 6749 §5.2 and RFC 8628 §3.5.

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
    /// The person, the code or the token is unknown, used up or not this client's.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The client may not use this grant.
    #[error("the client may not use this grant")]
    UnauthorizedClient,
    /// The issuer does not know this grant.
    #[error("the grant type is not supported")]
    UnsupportedGrantType,
    /// More was asked for than is allowed.
    #[error("a scope is not allowed")]
    InvalidScope,
    /// Another kind of answer was asked for than a code.
    #[error("only codes are given out")]
    UnsupportedResponseType,
    /// The person has not decided yet.
    #[error("nobody has logged in for the device yet")]
    AuthorizationPending,
    /// The device asks too often.
    #[error("the device asks too often")]
    SlowDown,
    /// The person said no.
    #[error("access was denied")]
    AccessDenied,
    /// The device waited too long.
    #[error("the device code has expired")]
    ExpiredToken,
    /// The token could not be signed.
    #[error("the token could not be signed")]
    Signing(#[from] jsonwebtoken::errors::Error),
    /// What was decided could not be kept.
    #[error("issuer simulator: cannot store state")]
    Store(#[from] crate::store::Error),
}

impl TokenError {
    /// The word of the protocol.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidClient { .. } => "invalid_client",
            Self::InvalidGrant(_) => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidScope => "invalid_scope",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::AuthorizationPending => "authorization_pending",
            Self::SlowDown => "slow_down",
            Self::AccessDenied => "access_denied",
            Self::ExpiredToken => "expired_token",
            Self::Signing(_) | Self::Store(_) => "server_error",
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::InvalidClient { .. } => StatusCode::UNAUTHORIZED,
            Self::Signing(_) | Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": self.code(), "error_description": self.to_string() }));
        let mut response =
            (self.status(), [(header::CACHE_CONTROL, "no-store")], body).into_response();
        if let Self::InvalidClient { basic: true } = self {
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                header::HeaderValue::from_static("Basic realm=\"issuer\""),
            );
        }
        response
    }
}
