//! Connections that are slow, idle or many: they lock nobody out.

use std::sync::Arc;

use axum::routing::get;
use tokio::{
    io::AsyncWriteExt,
    sync::{Notify, Semaphore},
    task::yield_now,
    time::timeout,
};

use super::{super::*, HANGS, LIMITS, exchange, health, listening};

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
