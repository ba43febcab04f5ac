//! Clients that do not read, listeners that stop, and TLS from the first byte to the last.

use std::sync::Arc;

use axum::{
    body::Body,
    routing::{get, post},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{Notify, oneshot},
    task::yield_now,
    time::timeout,
};

use super::{super::*, HANGS, LIMITS, TestListener, health, listening};
use crate::settings;

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
