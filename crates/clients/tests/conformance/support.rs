//! The other side of the tests: small servers, what they heard, and who is calling.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Method},
    response::Response,
};
use base::{
    Caller, Clock,
    caller::{Call, Guard, Verdict},
};
use clients::{CallLimits, CallReport, Gate, Http, Observer, error::Component};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

pub(crate) const EDP: Component = Component("edp");

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl RecordedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// All requests that arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<RecordedRequest>>>);

impl Journal {
    pub(crate) fn all(&self) -> Vec<RecordedRequest> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> RecordedRequest {
        self.all().pop().unwrap()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) async fn note(&self, request: Request) -> RecordedRequest {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 24).await.unwrap();
        let heard = RecordedRequest {
            method: head.method,
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        };
        self.0.lock().unwrap().push(heard.clone());
        heard
    }
}

pub(crate) async fn serve(routes: Router) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Url::parse(&format!("http://{address}")).unwrap()
}

/// A server that answers everything with `answer` and notes what it heard.
pub(crate) async fn answering<F>(answer: F) -> (Url, Journal)
where
    F: Fn(usize, RecordedRequest) -> Response + Clone + Send + Sync + 'static,
{
    let journal = Journal::default();
    let kept = journal.clone();
    let handler = move |request: Request| async move {
        let heard = kept.note(request).await;
        answer(kept.len(), heard)
    };
    (serve(Router::new().fallback(handler)).await, journal)
}

/// A server below HTTP: `behave` gets every connection.
pub(crate) async fn behaving<F, R>(behave: F) -> Url
where
    F: Fn(TcpStream) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(behave(stream));
        }
    });
    Url::parse(&format!("http://{address}")).unwrap()
}

/// An address where nobody listens.
pub(crate) async fn nobody() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap()
}

/// A good beginning of an answer, and then the connection is gone: applied, but the answer is lost.
pub(crate) fn lost() -> Response {
    let broken = futures::stream::iter([
        Ok(Bytes::from_static(b"{")),
        Err(std::io::Error::other("the line is cut")),
    ]);
    Response::new(Body::from_stream(broken))
}

pub(crate) fn noon() -> Clock {
    Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap())
}

pub(crate) fn short() -> CallLimits {
    CallLimits { call: Duration::from_millis(300), ..CallLimits::DEFAULT }
}

pub(crate) fn http(url: Url, limits: CallLimits, clock: &Clock) -> Http {
    Http::through(Gate::new(EDP, limits, clock.clone()), url).unwrap()
}

struct Always(Verdict);

impl Guard for Always {
    fn before<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
    }
    fn after<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(self.0))
    }
}

/// A run of the step "Look".
pub(crate) fn caller(run: i64) -> Caller {
    Caller {
        operation: uuid::Uuid::nil(),
        root: uuid::Uuid::nil(),
        step: "Look".into(),
        run,
        epoch: 1,
        replica: uuid::Uuid::nil(),
        calls: Arc::default(),
        key_per_run: false,
        guard: Arc::new(Always(Verdict::Go)),
    }
}

/// Keeps what it is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallLog(Arc<Mutex<Vec<String>>>);

impl CallLog {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for CallLog {
    fn finished(&self, seen: &CallReport<'_>) {
        let line = format!("{} {} {}", seen.component, seen.route, seen.outcome);
        self.0.lock().unwrap().push(line);
    }

    fn warned(&self, component: Component) {
        self.0.lock().unwrap().push(format!("{component} warned"));
    }
}
