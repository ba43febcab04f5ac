//! Errors of the control API.

use axum::{
    Json,
    extract::rejection::{JsonRejection, QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::{issuer::Unverified, store, system::OrderError, trouble::TroubleError};

/// A request that is not followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("a bearer token is required")]
    NoToken,
    #[error(transparent)]
    Token(#[from] Unverified),
    #[error("the scope {0} is required")]
    Scope(&'static str),
    #[error("there is no {0}")]
    NotFound(String),
    #[error("{0}")]
    Body(#[from] JsonRejection),
    #[error("{0}")]
    Query(#[from] QueryRejection),
    #[error("a speed is \"max\" or a number from 0.01 to 1000")]
    Speed,
    #[error(transparent)]
    Trouble(#[from] TroubleError),
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoToken | Self::Token(_) => StatusCode::UNAUTHORIZED,
            Self::Scope(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) | Self::Order(OrderError::Unknown(_)) => StatusCode::NOT_FOUND,
            Self::Body(_)
            | Self::Query(_)
            | Self::Speed
            | Self::Trouble(TroubleError::Nonsense(_))
            | Self::Order(OrderError::Invalid(_)) => StatusCode::BAD_REQUEST,
            Self::Trouble(TroubleError::Store(_))
            | Self::Order(OrderError::Failed(_))
            | Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = self.status();
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(error = %self, "the landscape cannot do what it was asked to do");
        }
        let mut answer = (status, Json(json!({ "error": self.to_string() }))).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = header::HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        answer
    }
}
