//! A replica that dies after a step has run and before its result is stored.

use std::{
    pin::Pin,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use engine::hooks::{Flow, Hooks, Point};
use tokio::sync::Notify;
use uuid::Uuid;

/// Dies before one of its commits.
pub(crate) struct Crash {
    left: AtomicU32,
    crashed: Notify,
}

impl Crash {
    /// Before the commit of this number.
    pub(crate) fn at_commit(number: u32) -> Self {
        Self { left: AtomicU32::new(number), crashed: Notify::new() }
    }

    /// Waits until it has happened.
    pub(crate) async fn happened(&self) {
        tokio::time::timeout(Duration::from_secs(60), self.crashed.notified()).await.unwrap();
    }
}

impl Hooks for Crash {
    fn at<'a>(
        &'a self,
        point: Point,
        _: Uuid,
        _: &'a str,
    ) -> Pin<Box<dyn Future<Output = Flow> + Send + 'a>> {
        let dies = point == Point::BeforeCommit && self.left.fetch_sub(1, Ordering::SeqCst) == 1;
        if dies {
            self.crashed.notify_one();
        }
        Box::pin(std::future::ready(if dies { Flow::Crash } else { Flow::Go }))
    }
}
