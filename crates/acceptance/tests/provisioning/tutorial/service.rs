//! The greeting service on a socket.
//!
//! What a reader would get wrong: asking for a greeting twice gives two.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use base::Clock;
use clients::{Gate, Limits};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use super::greetings::{COMPONENT, Greetings};

/// What it has.
#[derive(Default)]
struct Kept {
    greetings: Vec<Value>,
    down: bool,
}

type Shared = State<Arc<Mutex<Kept>>>;

/// Of which instance.
#[derive(Deserialize)]
struct Of {
    instance: String,
}

/// A running service; it ends with this value.
pub(super) struct Service {
    url: String,
    kept: Arc<Mutex<Kept>>,
    serving: JoinHandle<()>,
}

impl Service {
    /// One that is down answers nothing.
    pub(super) async fn start(down: bool) -> Self {
        let kept = Arc::new(Mutex::new(Kept { down, ..Kept::default() }));
        let routes = Router::new()
            .route("/greetings", get(find).post(make).delete(delete))
            .with_state(kept.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, kept, serving }
    }

    /// A client of it; calls are timed by `clock`.
    pub(super) fn client(&self, clock: &Clock) -> Greetings {
        let gate = Gate::new(COMPONENT, Limits::DEFAULT, clock.clone());
        Greetings::new(gate, self.url.parse().unwrap()).unwrap()
    }

    /// A greeting that was made before.
    pub(super) fn has_greeted(&self, instance: &str) {
        self.kept.lock().unwrap().greetings.push(greeting(instance));
    }

    /// Who has been greeted, as often as it was.
    pub(super) fn greeted(&self) -> Vec<String> {
        let kept = self.kept.lock().unwrap();
        let instance = |greeting: &Value| greeting["instance"].as_str().unwrap().to_owned();
        kept.greetings.iter().map(instance).collect()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn greeting(instance: &str) -> Value {
    let (text, token) = (format!("hello, {instance}"), format!("token of {instance}"));
    json!({ "instance": instance, "text": text, "token": token })
}

async fn find(State(kept): Shared, Query(of): Query<Of>) -> Response {
    let kept = kept.lock().unwrap();
    if kept.down {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    match kept.greetings.iter().find(|greeting| greeting["instance"] == of.instance) {
        Some(found) => Json(found.clone()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn make(State(kept): Shared, Json(of): Json<Of>) -> Response {
    let made = greeting(&of.instance);
    kept.lock().unwrap().greetings.push(made.clone());
    (StatusCode::CREATED, Json(made)).into_response()
}

async fn delete(State(kept): Shared, Query(of): Query<Of>) -> StatusCode {
    let mut kept = kept.lock().unwrap();
    if kept.down {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let before = kept.greetings.len();
    kept.greetings.retain(|greeting| greeting["instance"] != of.instance);
    if kept.greetings.len() < before { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}
