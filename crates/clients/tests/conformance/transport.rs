//! Faults below HTTP: refused connections, resets, half responses, stalls, endless bodies, cancelled calls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes},
    response::Response,
    routing::get,
};
use clients::{CallLimits, Error, Gate, Http, Kind};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};
use url::Url;

use crate::support::{CallLog, EDP, behaving, http, lost, nobody, noon, serve, short};

const HALF: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":";

async fn failing(url: Url, write: bool) -> Error {
    let http = http(url, short(), &noon());
    let request = if write { http.post("/a?secret=x") } else { http.get("/a?secret=x") };
    let began = Instant::now();

    let error = http.send("trying it", request).await.unwrap_err();

    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(error.kind.is_retryable());
    assert!(!base::failure::chain(&error).contains("secret"), "{error:?}");
    error
}

async fn heard(stream: &mut TcpStream) {
    let mut buffer = [0; 1024];
    let _ = stream.read(&mut buffer).await;
}

#[tokio::test]
async fn nobody_listening_means_unavailable_even_for_changes() {
    assert_eq!(failing(nobody().await, false).await.kind, Kind::Unavailable);

    let error = failing(nobody().await, true).await;
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.source.is_some());
}

#[tokio::test]
async fn a_connection_that_breaks_loses_the_answer_of_a_change() {
    let reset = || behaving(|stream| async move { drop(stream) });
    let silent = || behaving(|mut stream| async move { heard(&mut stream).await });
    let half = || {
        behaving(|mut stream| async move {
            heard(&mut stream).await;
            let _ = stream.write_all(HALF).await;
        })
    };

    for url in [reset().await, silent().await, half().await] {
        assert_eq!(failing(url.clone(), true).await.kind, Kind::AnswerLost, "{url}");
        assert_eq!(failing(url, false).await.kind, Kind::Unavailable);
    }
    let broken_body = serve(Router::new().route("/a", get(async || lost()).post(async || lost())));
    assert_eq!(failing(broken_body.await, true).await.kind, Kind::AnswerLost);
}

#[tokio::test]
async fn a_stall_ends_with_the_deadline() {
    let before_headers = behaving(|mut stream| async move {
        heard(&mut stream).await;
        std::future::pending::<()>().await;
    });
    let in_body = behaving(|mut stream| async move {
        heard(&mut stream).await;
        let _ = stream.write_all(HALF).await;
        std::future::pending::<()>().await;
    });

    assert_eq!(failing(before_headers.await, true).await.kind, Kind::AnswerLost);
    assert_eq!(failing(in_body.await, false).await.kind, Kind::Unavailable);
}

#[tokio::test]
async fn waiting_for_a_turn_counts_towards_the_deadline() {
    let url = behaving(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let http = http(url, CallLimits { at_once: 1, ..short() }, &noon());

    let calls = (0..10).map(|_| http.send("trying it", http.get("/a")));
    let answers = futures::future::join_all(calls).await;

    let errors: Vec<_> = answers.into_iter().map(Result::unwrap_err).collect();
    assert!(errors.iter().all(|error| error.kind == Kind::Unavailable));
    let waited = |error: &&Error| error.said.as_deref() == Some("too many calls at once");
    assert_eq!(errors.iter().filter(waited).count(), 9, "they were not called without time left");
}

#[tokio::test]
async fn an_endless_body_is_cut_off_early() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = sent.clone();
    let endless = get(move || async move {
        let chunks = futures::stream::repeat_with(move || {
            counter.fetch_add(64 * 1024, Ordering::SeqCst);
            Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 64 * 1024]))
        });
        Response::new(Body::from_stream(chunks))
    });
    let url = serve(Router::new().route("/a", endless)).await;
    let limits = CallLimits { body: 100_000, ..CallLimits::DEFAULT };
    let http = http(url, limits, &noon());

    let error = http.send("trying it", http.get("/a")).await.unwrap_err();

    assert_eq!(error.kind, Kind::Malformed);
    assert_eq!(error.said.as_deref(), Some("the body is too large"));
    assert!(sent.load(Ordering::SeqCst) < 64 * 1024 * 1024);
}

#[tokio::test]
async fn a_call_that_is_called_off_frees_its_connection_and_its_turn() {
    let (began, mut begun) = mpsc::unbounded_channel();
    let (ended, mut end) = mpsc::unbounded_channel();
    let url = behaving(move |mut stream| {
        let (began, ended) = (began.clone(), ended.clone());
        async move {
            heard(&mut stream).await;
            began.send(()).unwrap();
            heard(&mut stream).await;
            ended.send(()).unwrap();
        }
    })
    .await;
    let told = CallLog::default();
    let limits = CallLimits { at_once: 1, ..CallLimits::DEFAULT };
    let gate = Gate::observed(EDP, limits, noon(), Arc::new(told.clone()));
    let http = Http::through(gate, url).unwrap();

    for _ in 0..2 {
        let call = http.send("trying it", http.post("/a"));
        tokio::select! {
            _ = call => panic!("nobody answers"),
            _ = begun.recv() => {}
        }
        end.recv().await.unwrap();
    }

    assert_eq!(told.all(), ["edp - cancelled", "edp - cancelled"]);
}
