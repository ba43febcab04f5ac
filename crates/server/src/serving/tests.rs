//! Listeners against clients that are slow, idle, many, or do not read.

use std::sync::Arc;

use axum::{
    body::Body,
    routing::{get, post},
};
use jiff::Timestamp;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Notify, Semaphore, oneshot},
    task::yield_now,
    time::timeout,
};

use super::*;
use crate::settings;

const LIMITS: ConnectionLimits =
    ConnectionLimits { total: 40, per_peer: 30, ..ConnectionLimits::DEFAULT };
/// Only ends a test that would hang.
const HANGS: Duration = Duration::from_secs(30);

struct TestListener {
    address: SocketAddr,
    clock: Clock,
    serving: Serving,
}

fn health() -> Router {
    Router::new().route("/healthz", get(async || "ok")).route("/", get(async || "hello"))
}

async fn listening(routes: Router, limits: ConnectionLimits) -> TestListener {
    let clock = Clock::held_at(Timestamp::UNIX_EPOCH);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = Serving::new(&clock);
    let routes = api::router::shielded(routes, api::RequestLimits::DEFAULT);
    serving.add("a test", listener, routes, Acceptance::plain(limits));
    TestListener { address, clock, serving }
}

impl TestListener {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// The response to a new client for a path; no response in time is a failure.
    async fn ask(&self, path: &str) -> String {
        let asked = async {
            let mut stream = self.connect().await;
            let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            text
        };
        timeout(HANGS, asked).await.expect("an answer comes in time")
    }

    /// Moves the clock until the other side closes the connection.
    async fn closed(&self, stream: &mut TcpStream, step: Duration) -> String {
        let mut text = Vec::new();
        let mut ended = std::pin::pin!(stream.read_to_end(&mut text));
        let closing = async {
            loop {
                tokio::select! {
                    biased;
                    _ = &mut ended => return,
                    () = yield_now() => self.clock.advance(step),
                }
            }
        };
        timeout(HANGS, closing).await.expect("the connection is closed");
        String::from_utf8(text).unwrap()
    }
}

/// A request on a connection that stays open, and its answer.
async fn exchange(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut text = String::new();
    while !text.ends_with("hello") {
        let mut bytes = [0; 1024];
        let count = timeout(HANGS, stream.read(&mut bytes)).await.unwrap().unwrap();
        assert!(count > 0, "closed after {text}");
        text += std::str::from_utf8(&bytes[..count]).unwrap();
    }
    text
}

#[tokio::test]
async fn a_head_that_never_ends_ends_the_connection() {
    let listening = listening(health(), LIMITS).await;
    let mut nothing = listening.connect().await;
    let mut half = listening.connect().await;
    half.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();

    assert_eq!(listening.closed(&mut nothing, Duration::from_secs(1)).await, "");
    assert_eq!(listening.closed(&mut half, Duration::from_secs(1)).await, "");
}

#[tokio::test]
async fn between_requests_a_connection_may_be_idle_for_longer_but_not_for_ever() {
    let listening = listening(health(), LIMITS).await;
    let mut stream = listening.connect().await;

    for _ in 0..3 {
        assert!(exchange(&mut stream).await.starts_with("HTTP/1.1 200"));
        listening.clock.advance(LIMITS.idle_time.saturating_sub(Duration::from_secs(1)));
        for _ in 0..100 {
            yield_now().await;
        }
    }
    assert_eq!(listening.closed(&mut stream, Duration::from_secs(1)).await, "");
}

#[tokio::test]
async fn idle_and_slow_connections_lock_nobody_out() {
    let listening = listening(health(), LIMITS).await;
    let mut crowd = Vec::new();
    for number in 0..300 {
        let mut stream = listening.connect().await;
        if number % 2 == 0 {
            // The listener may have closed it already: that is what is wanted.
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost").await;
        }
        crowd.push(stream);
    }

    for path in ["/healthz", "/", "/healthz", "/"] {
        let answer = listening.ask(path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn when_every_connection_is_busy_health_is_answered_and_the_rest_is_told_to_come_back() {
    let (entered, release) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (inside, waiting) = (entered.clone(), release.clone());
    let hold = get(async move || {
        inside.add_permits(1);
        waiting.notified().await;
        "held"
    });
    let listening = listening(health().route("/hold", hold), LIMITS).await;
    let mut busy = Vec::new();
    for _ in 0..LIMITS.per_peer {
        let mut stream = listening.connect().await;
        stream.write_all(b"GET /hold HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        busy.push(stream);
    }
    let everybody = u32::try_from(LIMITS.per_peer).unwrap();
    timeout(HANGS, entered.acquire_many(everybody)).await.unwrap().unwrap().forget();

    assert!(listening.ask("/healthz").await.starts_with("HTTP/1.1 200"));
    let refused = listening.ask("/").await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("retry-after: 5"), "{refused}");

    release.notify_waiters();
    drop(busy);
    assert!(listening.ask("/").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_let_go() {
    struct DropSignal(Option<oneshot::Sender<()>>);
    impl Drop for DropSignal {
        fn drop(&mut self) {
            let _ = self.0.take().unwrap().send(());
        }
    }
    let (dropped, mut gone) = oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(DropSignal(Some(dropped)))));
    let endless = get(async move || {
        let told = told.lock().unwrap().take();
        let chunks = futures::stream::repeat_with(move || {
            let _kept = &told;
            Ok::<_, std::io::Error>("x".repeat(64 * 1024))
        });
        Body::from_stream(chunks)
    });
    let listening = listening(Router::new().route("/endless", endless), LIMITS).await;
    let mut stream = listening.connect().await;
    stream.write_all(b"GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();

    let letting_go = async {
        loop {
            tokio::select! {
                biased;
                _ = &mut gone => return,
                () = yield_now() => listening.clock.advance(Duration::from_secs(1)),
            }
        }
    };
    timeout(HANGS, letting_go).await.expect("the answer is given up");
}

#[tokio::test]
async fn http_2_is_not_spoken() {
    let listening = listening(health(), LIMITS).await;
    let mut stream = listening.connect().await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();

    let answer = listening.closed(&mut stream, Duration::from_secs(1)).await;

    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:?}");
}

#[tokio::test]
async fn requests_are_finished_before_the_listener_stops() {
    let (entered, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, waiting) = (entered.clone(), release.clone());
    let hold = post(async move || {
        inside.notify_one();
        waiting.notified().await;
        "done"
    });
    let listening = listening(Router::new().route("/hold", hold), LIMITS).await;
    let mut idle = listening.connect().await;
    let mut stream = listening.connect().await;
    stream.write_all(b"POST /hold HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    entered.notified().await;

    let TestListener { serving, clock, .. } = listening;
    let stopping = tokio::spawn(serving.stop(Duration::from_secs(5)));
    release.notify_one();
    let mut answer = String::new();
    timeout(HANGS, stream.read_to_string(&mut answer)).await.unwrap().unwrap();

    assert!(answer.ends_with("done"), "{answer}");
    clock.advance(Duration::from_secs(5));
    timeout(HANGS, stopping).await.unwrap().unwrap();
    assert_eq!(timeout(HANGS, idle.read(&mut [0])).await.unwrap().unwrap_or_default(), 0);
}

#[tokio::test]
async fn with_a_certificate_the_listener_speaks_tls_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("api.crt"), folder.path().join("api.key"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let text = format!("[transport]\ncertificate = {certificate:?}\nkey = {key:?}\n");
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, text).unwrap();
    let reached_by_others = "0.0.0.0:8080".parse().unwrap();
    let broker = settings::load(Some(&file)).unwrap().transport;
    let provisioner = settings::provisioner::load(Some(&file)).unwrap().transport;
    let acceptances = [
        broker.acceptance(reached_by_others, LIMITS).unwrap(),
        provisioner.acceptance(reached_by_others, LIMITS).unwrap(),
    ];
    let trusted = reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([trusted]).build().unwrap();
    let distrustful = reqwest::Client::builder().tls_certs_only([]).build().unwrap();

    for acceptance in acceptances {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut serving = Serving::new(&Clock::running());
        serving.add("a test", listener, health(), acceptance);

        let answer = client.get(format!("https://localhost:{port}/")).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "hello");
        assert!(client.get(format!("http://localhost:{port}/")).send().await.is_err());
        assert!(distrustful.get(format!("https://localhost:{port}/")).send().await.is_err());
    }
}

#[test]
fn a_listener_leaves_most_files_to_the_rest_of_the_process() {
    let limits = ConnectionLimits::DEFAULT.within_descriptors("a test", Some(256));
    assert_eq!((limits.total, limits.per_peer), (64, 64));

    let limits = ConnectionLimits::DEFAULT.within_descriptors("a test", Some(100_000));
    assert_eq!((limits.total, limits.per_peer), (1_024, 512));
    assert!(descriptors().is_some_and(|count| count > 0));
}
