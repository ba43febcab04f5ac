//! Listeners against clients: what they share, and which protocols they speak.

mod connections;
mod ending;

use axum::routing::get;
use jiff::Timestamp;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::yield_now,
    time::timeout,
};

use super::*;

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
async fn http_2_is_not_spoken() {
    let listening = listening(health(), LIMITS).await;
    let mut stream = listening.connect().await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();

    let answer = listening.closed(&mut stream, Duration::from_secs(1)).await;

    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer:?}");
}

#[test]
fn a_listener_leaves_most_files_to_the_rest_of_the_process() {
    let limits = ConnectionLimits::DEFAULT.within_descriptors("a test", Some(256));
    assert_eq!((limits.total, limits.per_peer), (64, 64));

    let limits = ConnectionLimits::DEFAULT.within_descriptors("a test", Some(100_000));
    assert_eq!((limits.total, limits.per_peer), (1_024, 512));
    assert!(descriptors().is_some_and(|count| count > 0));
}
