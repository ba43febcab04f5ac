//! The bell: says which actor should look at which runtime.
//!
//! What a reader would get wrong: an actor counts as busy from the ring on, not from when it begins, until it has nothing
//! left to do before the next change. So a runtime without busy actors stays as it is.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::mpsc;

/// An actor in runtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// Connects the runtime to the Director.
    Agent,
    /// Installs Kyma.
    Installer,
    /// Looks after service instances and bindings.
    BtpOperator,
}

/// One actor of one runtime.
pub(super) type Key = (String, Actor);

/// Rings the bell; never waits.
#[derive(Debug, Clone)]
pub struct Wakes {
    rings: mpsc::UnboundedSender<(Key, Busy)>,
    counts: Arc<Counts>,
}

/// Hears it.
#[derive(Debug)]
pub struct WakeReceiver(pub(super) mpsc::UnboundedReceiver<(Key, Busy)>);

/// How many rings of each actor are not worked off.
#[derive(Debug, Default)]
struct Counts(Mutex<HashMap<Key, usize>>);

/// A ring that is not worked off; counts until it is dropped.
#[derive(Debug)]
pub(super) struct Busy {
    key: Key,
    counts: Arc<Counts>,
}

impl Wakes {
    /// A new bell.
    pub fn new() -> (Self, WakeReceiver) {
        let (rings, receive) = mpsc::unbounded_channel();
        (Self { rings, counts: Arc::default() }, WakeReceiver(receive))
    }

    /// Wakes one actor of a runtime.
    pub fn wake(&self, runtime: &str, actor: Actor) {
        let key = (runtime.to_owned(), actor);
        let busy = Busy::new(key.clone(), self.counts.clone());
        // Nobody listens any more: the landscape is stopping.
        let _ = self.rings.send((key, busy));
    }

    /// The actors that have something to do in a runtime, now or after a delay.
    pub(crate) fn busy(&self, runtime: &str) -> Vec<Actor> {
        let counts = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = [Actor::Agent, Actor::Installer, Actor::BtpOperator];
        all.into_iter().filter(|actor| counts.contains_key(&(runtime.to_owned(), *actor))).collect()
    }
}

impl Busy {
    fn new(key: Key, counts: Arc<Counts>) -> Self {
        let mut all = counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(key.clone()).or_default() += 1;
        drop(all);
        Self { key, counts }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut all = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.key);
            }
        }
    }
}
