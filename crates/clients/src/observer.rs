//! Where the numbers about calls go: the server registers who counts them.

use std::{fmt, time::Duration};

use crate::error::Component;

/// Is notified of every requested call, once, when it is over.
pub trait Observer: Send + Sync + fmt::Debug {
    /// One call is over, was refused by us, or was called off.
    fn finished(&self, seen: &CallReport<'_>);

    /// A system has answered with a warning.
    fn warned(&self, component: Component) {
        let _ = component;
    }
}

/// The report of a finished call. No field holds a value from the call itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallReport<'a> {
    /// The system.
    pub component: Component,
    /// The route, with names and ids left out: `create shoots`, `registerRuntime`.
    pub route: &'a str,
    /// `ok`, the code of the failure's kind, or `cancelled`.
    pub outcome: &'static str,
    /// How long it waited for its turn.
    pub waited: Duration,
    /// How long it took in all.
    pub took: Duration,
}

/// Counts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn finished(&self, _: &CallReport<'_>) {}
}
