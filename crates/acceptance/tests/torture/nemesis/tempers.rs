//! How often the nemesis breaks what.

use std::time::Duration;

/// How often each thing is done, relative to the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Temper {
    pub kills: u32,
    pub pauses: u32,
    pub stops: u32,
    /// Connections ended by the database.
    pub terminations: u32,
    /// Answers of the database swallowed by the network.
    pub cuts: u32,
    /// How often the database freezes: it answers nothing, and no connection breaks.
    pub freezes: u32,
    /// How many leases a freeze lasts at least; at most two more.
    pub freeze_leases: u32,
    /// How often the database is stopped, spread over the time.
    pub outages: u32,
    /// The longest time between two deeds.
    pub rest: Duration,
}

/// Some of everything.
pub(crate) const EVERYTHING: Temper = Temper {
    kills: 25,
    pauses: 25,
    stops: 10,
    terminations: 20,
    cuts: 40,
    freezes: 6,
    freeze_leases: 1,
    outages: 4,
    rest: Duration::from_millis(800),
};

/// Mostly pauses: a replica that wakes up must notice that it has lost everything.
pub(crate) const PAUSES: Temper = Temper {
    kills: 1,
    pauses: 8,
    stops: 0,
    terminations: 0,
    cuts: 0,
    freezes: 0,
    freeze_leases: 1,
    outages: 0,
    rest: Duration::from_millis(500),
};

/// Mostly a frozen database: waiting clients give up.
pub(crate) const FREEZES: Temper = Temper {
    kills: 0,
    pauses: 0,
    stops: 0,
    terminations: 0,
    cuts: 0,
    freezes: 1,
    freeze_leases: 1,
    outages: 0,
    rest: Duration::from_millis(500),
};

/// Mostly commits without an answer.
pub(crate) const SILENCE: Temper = Temper {
    kills: 0,
    pauses: 0,
    stops: 0,
    terminations: 3,
    cuts: 3,
    freezes: 0,
    freeze_leases: 1,
    outages: 0,
    rest: Duration::from_millis(200),
};
