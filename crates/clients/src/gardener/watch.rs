//! One watch over all Shoots of a project, and signals to everyone who waits for one of them.
//!
//! What a reader would get wrong: a signal is a hint to look again, not news. It may come twice, and a
//! gap in the watch is sent as [`Signal::Any`].

use futures::StreamExt;
use kube::{
    Api,
    core::DynamicObject,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use tokio::{
    sync::broadcast::{self, Receiver, Sender, error::RecvError},
    task::AbortHandle,
};

use super::SHOOTS;
use crate::kubernetes::Cluster;

/// How many signals a slow listener may be behind before it gets `Signal::Any`.
const BEHIND: usize = 4_096;

/// Something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// To the Shoot of this name.
    Shoot(String),
    /// To any of them: the watch had a gap.
    Any,
}

/// A watch that goes on until it is dropped.
#[derive(Debug)]
pub(super) struct ShootWatch {
    signals: Sender<Signal>,
    task: AbortHandle,
}

/// Gets the signals from when it was made.
#[derive(Debug)]
pub struct Signals(Receiver<Signal>);

impl ShootWatch {
    pub(super) fn start(cluster: &Cluster, namespace: &str) -> Self {
        let (signals, _) = broadcast::channel(BEHIND);
        let shoots: Api<DynamicObject> =
            Api::namespaced_with(cluster.client(), namespace, &SHOOTS.for_kube());
        let task = tokio::spawn(follow(shoots, signals.clone())).abort_handle();
        Self { signals, task }
    }

    /// Listens from now on.
    pub(super) fn signals(&self) -> Signals {
        Signals(self.signals.subscribe())
    }
}

impl Drop for ShootWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Signals {
    /// The next signal; `None` when the watch has ended.
    pub async fn next(&mut self) -> Option<Signal> {
        match self.0.recv().await {
            Ok(signal) => Some(signal),
            Err(RecvError::Lagged(_)) => Some(Signal::Any),
            Err(RecvError::Closed) => None,
        }
    }
}

async fn follow(shoots: Api<DynamicObject>, signals: Sender<Signal>) {
    let pages = watcher::Config::default().page_size(100);
    let mut events = watcher(shoots, pages).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let signal = match event {
            Ok(Event::Apply(shoot) | Event::Delete(shoot)) => {
                shoot.metadata.name.map(Signal::Shoot)
            }
            // Changes while nobody watched are not sent one by one.
            Ok(Event::InitDone) => Some(Signal::Any),
            Ok(Event::Init | Event::InitApply(_)) => None,
            Err(error) => {
                tracing::debug!(error = kind(&error), "the watch of Shoots begins again");
                None
            }
        };
        if let Some(signal) = signal {
            // Nobody may be listening right now.
            let _ = signals.send(signal);
        }
    }
}

/// Only the kind: the texts of these errors may hold bodies.
fn kind(error: &watcher::Error) -> &'static str {
    match error {
        watcher::Error::InitialListFailed(_) => "list",
        watcher::Error::WatchStartFailed(_) => "start",
        watcher::Error::WatchError(_) => "status",
        watcher::Error::WatchFailed(_) => "stream",
        watcher::Error::NoResourceVersion => "version",
    }
}
