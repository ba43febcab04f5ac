//! Calls of clusters that stall, break or are dropped: each ends in time and frees what it held.

use std::time::Duration;

use base::Clock;
use clients::{
    CallLimits, Component, Gate, Kind,
    kubernetes::{Cluster, Objects},
};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, sync::mpsc};

use super::MAPS;
use crate::support::{behaving, short};

pub(super) fn cluster_at(url: &url::Url, limits: CallLimits) -> Objects<Value> {
    let gate = Gate::new(Component::RUNTIME, limits, Clock::running());
    let config = kube::Config::new(url.as_str().parse().unwrap());
    Cluster::with(gate, &config).unwrap().objects(MAPS, Some("a"))
}

#[tokio::test]
async fn stalls_and_resets_end_in_time() {
    let stalls = behaving(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    });
    let resets = behaving(|stream| async move { drop(stream) });

    for url in [stalls.await, resets.await] {
        let maps = cluster_at(&url, short());
        let began = std::time::Instant::now();
        let read = maps.get("one").await.unwrap_err();
        let written = maps.merge("one", &json!({})).await.unwrap_err();

        assert_eq!((read.kind, written.kind), (Kind::Unavailable, Kind::AnswerLost));
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_call_that_is_called_off_frees_its_connection_and_its_turn() {
    let (began, mut begun) = mpsc::unbounded_channel();
    let (ended, mut end) = mpsc::unbounded_channel();
    let url = behaving(move |mut stream| {
        let (began, ended) = (began.clone(), ended.clone());
        async move {
            let mut buffer = [0; 4096];
            let _ = stream.read(&mut buffer).await;
            began.send(()).unwrap();
            let _ = stream.read(&mut buffer).await;
            ended.send(()).unwrap();
        }
    })
    .await;
    let maps = cluster_at(&url, CallLimits { at_once: 1, ..CallLimits::CLUSTER });

    for _ in 0..2 {
        tokio::select! {
            _ = maps.get("one") => panic!("nobody answers"),
            _ = begun.recv() => {}
        }
        end.recv().await.unwrap();
    }
}
