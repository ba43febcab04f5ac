//! Maintenance windows that the tests have chosen.

use std::sync::{
    Mutex, OnceLock,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use broker::orchestrations::{WindowSource, policy::Policy, source::WindowFacts};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::world::World;

/// What happens while windows are read.
type WhileRead = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Windows that the test has chosen.
#[derive(Default)]
pub(crate) struct FixedWindows {
    facts: Mutex<WindowFacts>,
    /// The policy from the second time on.
    later: OnceLock<Policy>,
    read: AtomicUsize,
    meanwhile: OnceLock<WhileRead>,
}

impl WindowSource for FixedWindows {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, clients::Error>> {
        let mut facts = self.facts.lock().unwrap().clone();
        if let Some(later) = self.later.get().filter(|_| self.read.fetch_add(1, SeqCst) > 0) {
            facts.policy = later.clone();
        }
        Box::pin(async move {
            if let Some(meanwhile) = self.meanwhile.get() {
                meanwhile().await;
            }
            Ok(facts)
        })
    }
}

impl World {
    pub(crate) fn windows(&self, policy: &Value) {
        self.windows.facts.lock().unwrap().policy = Policy::read(&policy.to_string()).unwrap();
    }

    /// The policy from the second time on that windows are read.
    pub(crate) fn later_windows(&self, policy: &Value) {
        let policy = Policy::read(&policy.to_string()).unwrap();
        assert!(self.windows.later.set(policy).is_ok());
    }

    /// What happens while windows are read.
    pub(crate) fn while_windows_are_read(
        &self,
        meanwhile: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) {
        assert!(self.windows.meanwhile.set(Box::new(meanwhile)).is_ok());
    }
}
