//! How one replica works.

use std::time::Duration;

use crate::planted::PlantedBug;

/// How one replica works. Every default serves a production replica.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The replica's stable name; random when absent. A start under the same name takes over at once.
    pub replica: Option<String>,
    /// How long a lease lives without a heartbeat.
    pub lease: Duration,
    /// How many steps run at once.
    pub workers: usize,
    /// How many operations may be in hand at once: running, queued for a place, or being committed.
    pub in_hand: usize,
    /// How often to look for what a notification missed.
    pub scan: Duration,
    /// How many sleeping operations keep their stage memory.
    pub memories: usize,
    /// After how long of failing in a row a stage starts over.
    pub patience: Duration,
    /// How many times faster than written steps poll. Limits are never scaled.
    pub pace: f64,
    /// How many results may share one transaction.
    pub batch: usize,
    /// How many such transactions may run at once.
    pub committers: usize,
    /// For how long the journal of an ended operation is kept.
    pub keep_journal: Duration,
    /// The seed of all randomness; from the system when absent.
    pub seed: Option<u64>,
    /// Where the heartbeat runs.
    pub heart: HeartPlace,
    /// A bug, in tests.
    pub planted: PlantedBug,
}

/// Where the heartbeat runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartPlace {
    /// On a thread and a connection of its own, so that busy steps cannot delay it.
    Thread,
    /// In the runtime of the worker: for simulations in one thread.
    Task,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            replica: None,
            lease: Duration::from_secs(10),
            workers: 20,
            in_hand: 1_000,
            scan: Duration::from_millis(500),
            memories: 20_000,
            patience: Duration::from_secs(600),
            pace: 1.0,
            batch: 256,
            committers: 2,
            keep_journal: Duration::from_secs(14 * 24 * 3600),
            seed: None,
            heart: HeartPlace::Thread,
            planted: PlantedBug::Nothing,
        }
    }
}
