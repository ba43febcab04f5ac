//! What every answer of this API has in common, whoever gives it: a layer around all routes.
//!
//! What a reader would get wrong: no handler makes some of the errors (no route, no token, too large, too slow, a
//! panic). Platforms get them in the shape of this API all the same.

use axum::{
    extract::Request,
    http::{HeaderName, StatusCode, header},
    middleware::Next,
    response::Response,
};
use serde_json::json;
use tracing::Instrument;

use super::answer::answer;
use crate::{correlation::CorrelationId, error::Problem};

const REQUEST_IDENTITY: HeaderName = HeaderName::from_static("x-broker-api-request-identity");

/// Says again how the platform calls the request, and gives every error the shape of this API.
pub(crate) async fn frame(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !(path.starts_with("/oauth/") || path.starts_with("/v2/")) {
        return next.run(request).await;
    }
    let identity = request.headers().get(REQUEST_IDENTITY).cloned();
    let span = tracing::info_span!("osb", request.identity = ?identity);
    let correlation = request.extensions().get::<CorrelationId>().cloned();
    let mut response = shaped(next.run(request).instrument(span).await);
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR
        && let Some(correlation) = correlation
    {
        let description = format!(
            "something is wrong in the broker; its operators find it in the log by the correlation id {correlation}"
        );
        response = with_description(&response, &description);
    }
    if let Some(identity) = identity {
        response.headers_mut().insert(REQUEST_IDENTITY, identity);
    }
    response
}

fn shaped(mut response: Response) -> Response {
    let status = response.status();
    let problem = response.extensions_mut().remove::<Problem>();
    let json = response.headers().get(header::CONTENT_TYPE);
    let json = json.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !(status.is_client_error() || status.is_server_error()) || (json && problem.is_none()) {
        return response;
    }
    let description = problem.map_or_else(|| words(status).to_owned(), |known| known.description);
    with_description(&response, &description)
}

/// The same answer, in the shape of this API.
fn with_description(response: &Response, description: &str) -> Response {
    let mut said = answer(response.status(), &json!({ "description": description }));
    for (name, value) in response.headers() {
        if ![header::CONTENT_LENGTH, header::CONTENT_TYPE].contains(name) {
            said.headers_mut().insert(name, value.clone());
        }
    }
    said
}

fn words(status: StatusCode) -> &'static str {
    match status {
        StatusCode::REQUEST_TIMEOUT => "the request did not arrive in time",
        StatusCode::PAYLOAD_TOO_LARGE => "the request body is too large",
        StatusCode::GATEWAY_TIMEOUT => "the request took too long",
        status if status.is_client_error() => "the request is not valid",
        _ => "the request could not be completed",
    }
}
