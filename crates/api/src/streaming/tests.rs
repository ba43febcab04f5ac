//! Interrupted responses as clients see them, and clients that hang up.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, routing::get};
use tokio::{net::TcpListener, sync::oneshot};

use super::*;

/// Pages of one large runtime each, as many as there are; the one at `broken` cannot be read.
struct Source {
    read: Arc<AtomicUsize>,
    pages: usize,
    broken: Option<usize>,
    /// Told when nobody reads any more.
    dropped: Option<oneshot::Sender<()>>,
}

impl Pages for Source {
    async fn next(&mut self) -> Result<Option<Vec<Runtime>>, Error> {
        let at = self.read.fetch_add(1, Ordering::SeqCst);
        if self.broken == Some(at) {
            return Err(Error::Bad("no connection".into()));
        }
        let runtime = Runtime { instance_id: "x".repeat(100_000), ..Runtime::default() };
        Ok((at < self.pages).then(|| vec![runtime]))
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Some(dropped) = self.dropped.take() {
            let _ = dropped.send(());
        }
    }
}

struct Ids;

impl Writer for Ids {
    fn page(&mut self, runtimes: Vec<Runtime>, out: &mut Vec<u8>) -> Result<(), Error> {
        for runtime in &runtimes {
            out.extend_from_slice(runtime.instance_id.as_bytes());
        }
        Ok(())
    }

    fn tail(&self) -> &'static [u8] {
        b"end"
    }
}

/// A server that answers once with these pages.
async fn serve(source: Source) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let source = Arc::new(Mutex::new(Some(source)));
    let answer = move || {
        let source = source.lock().unwrap().take().unwrap();
        async move { body(source, Ids).await.unwrap() }
    };
    let routes = Router::new().route("/", get(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    address
}

fn source(
    pages: usize,
    broken: Option<usize>,
) -> (Source, Arc<AtomicUsize>, oneshot::Receiver<()>) {
    let (read, (dropped, gone)) = (Arc::new(AtomicUsize::new(0)), oneshot::channel());
    (Source { read: read.clone(), pages, broken, dropped: Some(dropped) }, read, gone)
}

#[tokio::test]
async fn an_answer_is_whole_when_every_page_was_read() {
    let (source, read, _) = source(3, None);

    let text = reqwest::get(serve(source).await).await.unwrap().text().await.unwrap();

    assert_eq!(text.len(), 300_000 + "end".len());
    assert!(text.ends_with("end"));
    assert_eq!(read.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_page_that_cannot_be_read_breaks_the_stream() {
    let (source, _, _) = source(3, Some(2));

    let address = serve(source).await;
    let answer = async { reqwest::get(address).await?.text().await };

    // It may be broken off before its head has left.
    assert!(answer.await.is_err(), "the answer looks whole");
}

#[tokio::test]
async fn a_client_that_hangs_up_stops_the_reading() {
    // Far more than sockets hold.
    const PAGES: usize = 10_000;
    let (source, read, gone) = source(PAGES, None);
    let mut answer = reqwest::get(serve(source).await).await.unwrap();

    answer.chunk().await.unwrap();
    drop(answer);
    gone.await.unwrap();

    assert!(read.load(Ordering::SeqCst) < PAGES);
}
