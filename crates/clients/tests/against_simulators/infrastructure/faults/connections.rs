//! Every call of the four clients, and every way in which its connection ends early.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use clients::{CallLimits, Kind};
use futures::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

use super::{
    super::{
        support::{behaving, nobody, noon},
        world::{self},
    },
    calls::calls,
    issuer,
};

/// How a connection breaks.
#[derive(Debug, Clone, Copy)]
enum Breaks {
    AtOnce,
    InTheHeaders,
    InTheBody,
    Never,
}

async fn broken(mut stream: TcpStream, breaks: Breaks) {
    let _ = stream.read(&mut [0; 8_192]).await;
    match breaks {
        Breaks::AtOnce => {}
        Breaks::InTheHeaders => drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").await),
        Breaks::InTheBody => {
            let text = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":";
            drop(stream.write_all(text).await);
        }
        Breaks::Never => std::future::pending().await,
    }
}

#[tokio::test]
async fn every_broken_connection_is_worth_another_try() {
    let issuer = issuer().await;
    let next = Arc::new(Mutex::new(Breaks::AtOnce));
    let current = next.clone();
    let url = behaving(move |stream| broken(stream, *current.lock().unwrap())).await;
    let calls = calls();
    let limits = CallLimits { call: Duration::from_secs(2), ..CallLimits::DEFAULT };
    let prepare = |url: &Url| -> Vec<_> {
        calls.iter().map(|call| (call.prepared)(url.clone(), issuer.clone(), limits)).collect()
    };

    let nowhere = prepare(&nobody().await);
    for (call, refused) in calls.iter().zip(join_all(nowhere.iter().map(|made| made())).await) {
        assert_eq!(refused.expect_err(call.name).kind, Kind::Unavailable, "{}", call.name);
    }
    let made = prepare(&url);
    // One less than what makes a client hold back.
    for breaks in [Breaks::AtOnce, Breaks::InTheHeaders, Breaks::InTheBody, Breaks::Never] {
        *next.lock().unwrap() = breaks;
        let called = join_all(made.iter().map(|made| made())).await;

        for (call, called) in calls.iter().zip(called) {
            let kind = if call.reads { Kind::Unavailable } else { Kind::AnswerLost };
            assert_eq!(called.expect_err(call.name).kind, kind, "{} {breaks:?}", call.name);
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_its_turn_to_the_next() {
    let (came, mut coming) = tokio::sync::mpsc::unbounded_channel();
    let stalled = behaving(move |stream| {
        let came = came.clone();
        async move {
            came.send(()).unwrap();
            let _stream = stream;
            std::future::pending::<()>().await;
        }
    })
    .await;
    let limits = CallLimits { at_once: 1, call: Duration::from_mins(10), ..CallLimits::DEFAULT };
    let client = world::reconciler(stalled, limits, &noon());

    // Only a call that has its turn connects.
    for _ in 0..20 {
        tokio::select! {
            ended = client.latest_status("r-1") => panic!("{ended:?}"),
            called = coming.recv() => called.unwrap(),
        }
    }
}
