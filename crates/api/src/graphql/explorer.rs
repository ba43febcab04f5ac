//! A page to try the API with. It brings everything it needs along and asks no other server for anything.

use axum::{
    Router,
    http::{HeaderName, header},
    response::IntoResponse,
    routing::get,
};

/// Only what this server sends, and no inline code: what an answer says is never run.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page and its parts. They hold no data, so they need no token; the queries sent from them do.
pub fn routes() -> Router {
    Router::new()
        .route(
            "/",
            get(async || part("text/html; charset=utf-8", include_str!("explorer/index.html"))),
        )
        .route(
            "/explorer.js",
            get(async || {
                part("text/javascript; charset=utf-8", include_str!("explorer/explorer.js"))
            }),
        )
        .route(
            "/explorer.css",
            get(async || part("text/css; charset=utf-8", include_str!("explorer/explorer.css"))),
        )
}

fn part(kind: &'static str, text: &'static str) -> impl IntoResponse {
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}
