//! A small Kubernetes API for the tests: objects in memory, versions, selectors, watches, lost answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use base::Clock;
use clients::{CallLimits, Gate, error::Component, kubernetes::Cluster};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use url::Url;

use crate::support::{Journal, RecordedRequest, lost, serve};

type Answerer = Box<dyn FnMut(&RecordedRequest) -> Option<Response> + Send>;

/// The other side.
#[derive(Clone, Default)]
pub(crate) struct KubeApi {
    pub(crate) journal: Journal,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Value>,
    version: u64,
    lose: usize,
    instead: Option<Answerer>,
    watchers: Vec<mpsc::UnboundedSender<Value>>,
}

impl KubeApi {
    pub(crate) async fn start(&self) -> Url {
        let api = self.clone();
        let handler = move |request: Request| async move {
            let heard = api.journal.note(request).await;
            api.answer(&heard)
        };
        serve(Router::new().fallback(handler)).await
    }

    pub(crate) async fn cluster(&self, limits: CallLimits) -> Cluster {
        self.cluster_by(limits, Clock::running()).await
    }

    pub(crate) async fn cluster_by(&self, limits: CallLimits, clock: Clock) -> Cluster {
        self.cluster_through(Gate::new(Component::GARDENER, limits, clock)).await
    }

    pub(crate) async fn cluster_through(&self, gate: Arc<Gate>) -> Cluster {
        let config = kube::Config::new(self.start().await.as_str().parse().unwrap());
        Cluster::with(gate, &config).unwrap()
    }

    /// Puts an object there, as another client would.
    pub(crate) fn put(&self, path: &str, mut object: Value) {
        let name = path.rsplit('/').next().unwrap();
        object["metadata"]["name"] = json!(name);
        self.state.lock().unwrap().write(path, object, "ADDED");
    }

    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        self.state.lock().unwrap().objects.get(path).cloned()
    }

    pub(crate) fn remove(&self, path: &str) {
        self.state.lock().unwrap().delete(path);
    }

    /// The next `count` changes are made, and their answers lost.
    pub(crate) fn lose(&self, count: usize) {
        self.state.lock().unwrap().lose = count;
    }

    /// Answers that come before all others.
    pub(crate) fn instead(
        &self,
        answer: impl FnMut(&RecordedRequest) -> Option<Response> + Send + 'static,
    ) {
        self.state.lock().unwrap().instead = Some(Box::new(answer));
    }

    /// Cuts all watches.
    pub(crate) fn cut_watches(&self) {
        self.state.lock().unwrap().watchers.clear();
    }

    /// Tells all watches that what they ask for is not kept any more.
    pub(crate) fn expire_watches(&self) {
        let gone = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "metadata": {},
            "message": "too old", "reason": "Expired", "code": 410,
        });
        let mut state = self.state.lock().unwrap();
        state.tell("ERROR", &gone);
        state.watchers.clear();
    }

    pub(crate) fn watchers(&self) -> usize {
        self.state.lock().unwrap().watchers.len()
    }

    fn answer(&self, heard: &RecordedRequest) -> Response {
        let mut state = self.state.lock().unwrap();
        // Taken out, so that it may use this API itself.
        if let Some(mut instead) = state.instead.take() {
            drop(state);
            let answer = instead(heard);
            state = self.state.lock().unwrap();
            state.instead = Some(instead);
            if let Some(answer) = answer {
                return answer;
            }
        }
        let answer = state.answer(heard);
        if heard.method != Method::GET && answer.status().is_success() && state.lose > 0 {
            state.lose -= 1;
            return lost();
        }
        answer
    }
}

impl State {
    fn answer(&mut self, heard: &RecordedRequest) -> Response {
        let path = heard.path.as_str();
        let is_collection = is_collection(path);
        match (heard.method.as_str(), is_collection) {
            ("GET", true) if heard.query.contains("watch=true") => self.watch(),
            ("GET", true) => self.list(path, &heard.query),
            ("POST", true) => {
                let object = heard.json();
                let path = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
                if self.objects.contains_key(&path) {
                    return status(409, "AlreadyExists");
                }
                (StatusCode::CREATED, Json(self.write(&path, object, "ADDED"))).into_response()
            }
            ("GET", false) => match self.objects.get(path) {
                Some(object) => Json(object).into_response(),
                None => status(404, "NotFound"),
            },
            ("PUT", false) => {
                let object = heard.json();
                match self.objects.get(path) {
                    None => status(404, "NotFound"),
                    Some(there)
                        if there["metadata"]["resourceVersion"]
                            != object["metadata"]["resourceVersion"] =>
                    {
                        status(409, "Conflict")
                    }
                    Some(_) => Json(self.write(path, object, "MODIFIED")).into_response(),
                }
            }
            ("PATCH", false) => {
                let applied = heard.header("content-type") == Some("application/apply-patch+yaml");
                let Some(mut object) =
                    self.objects.get(path).cloned().or(applied.then(|| json!({})))
                else {
                    return status(404, "NotFound");
                };
                merge(&mut object, &heard.json());
                Json(self.write(path, object, "MODIFIED")).into_response()
            }
            ("DELETE", false) => match self.delete(path) {
                Some(object) => Json(object).into_response(),
                None => status(404, "NotFound"),
            },
            _ => status(405, "MethodNotAllowed"),
        }
    }

    fn write(&mut self, path: &str, mut object: Value, kind: &str) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        if object["metadata"]["uid"].is_null() {
            object["metadata"]["uid"] = json!(format!("u{}", self.version));
        }
        self.objects.insert(path.into(), object.clone());
        self.tell(kind, &object);
        object
    }

    fn delete(&mut self, path: &str) -> Option<Value> {
        let object = self.objects.remove(path)?;
        self.tell("DELETED", &object);
        Some(object)
    }

    fn tell(&mut self, kind: &str, object: &Value) {
        let event = json!({"type": kind, "object": object});
        self.watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }

    fn watch(&mut self) -> Response {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.watchers.push(sender);
        let events = futures::stream::unfold(receiver, |mut receiver| async move {
            Some((receiver.recv().await?, receiver))
        });
        let lines =
            events.map(|event: Value| Ok::<_, std::io::Error>(Bytes::from(format!("{event}\n"))));
        Response::new(Body::from_stream(lines))
    }

    /// Two objects to a page, so that paging is always exercised.
    fn list(&self, path: &str, query: &str) -> Response {
        let pairs: BTreeMap<_, _> =
            url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let selector = pairs.get("labelSelector").map_or("", String::as_str);
        let from: usize = pairs.get("continue").map_or(0, |from| from.parse().unwrap());
        let inside = |key: &str| {
            key.strip_prefix(path).is_some_and(|rest| rest[1..].split('/').count() == 1)
        };
        let found: Vec<_> = self
            .objects
            .iter()
            .filter(|(key, object)| inside(key) && selects(selector, &object["metadata"]["labels"]))
            .map(|(_, object)| object.clone())
            .collect();
        let mut meta = json!({"resourceVersion": self.version.to_string()});
        if found.len() > from + 2 {
            meta["continue"] = json!((from + 2).to_string());
        }
        let items: Vec<_> = found.into_iter().skip(from).take(2).collect();
        Json(json!({"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items}))
            .into_response()
    }
}

pub(crate) fn status(code: u16, reason: &str) -> Response {
    said(code, reason, "no")
}

pub(crate) fn said(code: u16, reason: &str, message: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": message, "reason": reason, "code": code,
        "details": {"name": "it"},
    });
    (StatusCode::from_u16(code).unwrap(), Json(body)).into_response()
}

fn selects(selector: &str, labels: &Value) -> bool {
    selector.split(',').map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        if let Some((key, value)) = part.split_once("!=") {
            labels[key] != value
        } else if let Some((key, value)) = part.split_once('=') {
            labels[key] == value
        } else if let Some(key) = part.strip_prefix('!') {
            labels[key].is_null()
        } else {
            !labels[part].is_null()
        }
    })
}

fn is_collection(path: &str) -> bool {
    let parts = path.trim_matches('/').split('/').count();
    let root = if path.starts_with("/apis/") { 3 } else { 2 };
    let place = if path.contains("/namespaces/") && parts > root + 2 { 2 } else { 0 };
    parts == root + place + 1
}

fn merge(into: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            into.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut into[key], value);
        }
    }
}
