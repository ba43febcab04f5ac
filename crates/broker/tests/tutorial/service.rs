//! The outside world of the tutorial on a socket: greetings, and whoever installs Kyma.
//!
//! What a reader would get wrong: whoever asks for a greeting twice gets two.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, put},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// What it has.
#[derive(Default)]
struct Kept {
    greetings: Vec<Value>,
    configuration: Value,
    down: bool,
}

type Shared = State<Arc<Mutex<Kept>>>;

/// Of which instance.
#[derive(Deserialize)]
struct Of {
    instance: String,
}

/// A running service; it ends with this value.
pub(crate) struct Service {
    pub(crate) url: String,
    kept: Arc<Mutex<Kept>>,
    serving: JoinHandle<()>,
}

impl Service {
    pub(crate) async fn start() -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let routes = Router::new()
            .route("/greetings", get(find).post(make).delete(delete))
            .route("/configuration", put(configure))
            .with_state(kept.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, kept, serving }
    }

    /// From now on nobody gets an answer to what is asked about greetings.
    pub(crate) fn go_down(&self) {
        self.kept.lock().unwrap().down = true;
    }

    /// A greeting that was made before.
    pub(crate) fn has_greeted(&self, instance: &str) {
        self.kept.lock().unwrap().greetings.push(greeting(instance));
    }

    /// All that it has.
    pub(crate) fn state(&self) -> Value {
        let kept = self.kept.lock().unwrap();
        json!({ "greetings": kept.greetings, "configuration": kept.configuration })
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

async fn configure(State(kept): Shared, Json(configuration): Json<Value>) -> StatusCode {
    kept.lock().unwrap().configuration = configuration;
    StatusCode::NO_CONTENT
}
