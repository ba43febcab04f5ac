//! Lets outside calls begin only while their operation is held.

use std::sync::Arc;

use base::caller::{Call, Guard, Verdict};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{
    hooks::{Flow, Hooks, Point},
    lease::Lease,
    planted::PlantedBug,
};

/// Lets calls begin only while the operation is held.
pub(crate) struct WhileHeld {
    pub(crate) lease: Arc<Lease>,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    pub(crate) crashed: CancellationToken,
    /// Set when the operation is not held here any more.
    pub(crate) stopped: CancellationToken,
    pub(crate) planted: PlantedBug,
}

impl WhileHeld {
    async fn ask(&self, point: Point, call: &Call) -> Verdict {
        if let Some(hooks) = &self.hooks {
            match hooks.at(point, call.operation, &call.step).await {
                Flow::Go => {}
                Flow::LoseAnswer => return Verdict::Lose,
                Flow::Crash => {
                    self.crashed.cancel();
                    // A dead process neither calls nor hears.
                    return std::future::pending().await;
                }
            }
        }
        if self.crashed.is_cancelled() {
            return std::future::pending().await;
        }
        if self.stopped.is_cancelled() {
            return Verdict::Stop;
        }
        if self.lease.permits(self.planted) { Verdict::Go } else { Verdict::Stop }
    }
}

impl Guard for WhileHeld {
    fn before<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        Box::pin(self.ask(Point::BeforeCall, call))
    }

    fn after<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Verdict> {
        Box::pin(self.ask(Point::AfterCall, call))
    }
}
