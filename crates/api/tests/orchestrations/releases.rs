//! Releases of Kyma over a real socket: 9.9.9 does not exist, and 5.0.3 cannot be looked for.

use axum::{Router, extract::Path, http::StatusCode, routing::get};
use clients::{CallLimits, Component, Http, releases::ComponentLists};
use tokio::net::TcpListener;

/// The lists of components of a new server.
pub(crate) async fn start() -> ComponentLists {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let routes = Router::new().route("/{version}/kyma-components.yaml", get(components));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    let http = Http::new(Component::RELEASES, url, CallLimits::DEFAULT).unwrap();
    ComponentLists::new(http.clone(), http)
}

async fn components(Path(version): Path<String>) -> Result<&'static str, StatusCode> {
    match version.as_str() {
        "9.9.9" => Err(StatusCode::NOT_FOUND),
        "5.0.3" => Err(StatusCode::SERVICE_UNAVAILABLE),
        _ => Ok("defaultNamespace: kyma-system\n"),
    }
}
