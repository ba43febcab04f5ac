//! Maintenance windows that the tests have chosen.

use std::sync::{
    Mutex, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use broker::orchestrations::{WindowSource, policy::Policy, source::WindowFacts};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::world::World;

/// A hook that runs while windows are read.
type WhileRead = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Windows that the test has chosen.
#[derive(Default)]
pub(crate) struct FixedWindows {
    facts: Mutex<WindowFacts>,
    /// The policies from the second time on; the last one stays.
    later: OnceLock<Vec<Policy>>,
    read: AtomicUsize,
    meanwhile: OnceLock<WhileRead>,
    /// Whether they cannot be read.
    away: AtomicBool,
}

impl WindowSource for FixedWindows {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, clients::Error>> {
        let mut facts = self.facts.lock().unwrap().clone();
        if let Some(later) = self.later.get()
            && let Some(before) = self.read.fetch_add(1, SeqCst).checked_sub(1)
        {
            facts.policy = later[before.min(later.len() - 1)].clone();
        }
        Box::pin(async move {
            if let Some(meanwhile) = self.meanwhile.get() {
                meanwhile().await;
            }
            if self.away.load(SeqCst) {
                let kind = clients::Kind::Unavailable;
                return Err(clients::Error::new(clients::Component::GARDENER, kind, "reading"));
            }
            Ok(facts)
        })
    }
}

impl World {
    pub(crate) fn windows(&self, policy: &Value) {
        self.windows.facts.lock().unwrap().policy = Policy::read(&policy.to_string()).unwrap();
    }

    /// From now on windows cannot be read.
    pub(crate) fn without_windows(&self) {
        self.windows.away.store(true, SeqCst);
    }

    /// The policies from the second time on that windows are read; the last one stays.
    pub(crate) fn later_windows(&self, policies: &[Value]) {
        let read = |policy: &Value| Policy::read(&policy.to_string()).unwrap();
        assert!(self.windows.later.set(policies.iter().map(read).collect()).is_ok());
    }

    /// A hook that runs while windows are read.
    pub(crate) fn while_windows_are_read(
        &self,
        meanwhile: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) {
        assert!(self.windows.meanwhile.set(Box::new(meanwhile)).is_ok());
    }
}
