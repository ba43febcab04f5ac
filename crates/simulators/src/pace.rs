//! How fast the simulated world is.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// How many times faster than watchable; shared by all systems and changed while they run.
#[derive(Debug, Clone)]
pub struct Pace(Arc<Mutex<Speed>>);

/// A speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Speed {
    /// This many times the watchable default.
    Times(f64),
    /// Without any simulated delay.
    Word(Max),
}

/// The word for a world without delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Max {
    /// As fast as can be.
    Max,
}

impl Speed {
    /// The watchable default.
    pub const WATCHABLE: Self = Self::Times(1.0);
    /// Without any simulated delay.
    pub const MAX: Self = Self::Word(Max::Max);

    /// Whether it is a sensible number.
    pub fn is_sensible(self) -> bool {
        match self {
            Self::Times(factor) => (0.01..=1_000.0).contains(&factor),
            Self::Word(Max::Max) => true,
        }
    }
}

impl Pace {
    /// A world that starts at this speed.
    pub fn new(speed: Speed) -> Self {
        Self(Arc::new(Mutex::new(speed)))
    }

    /// The speed now.
    pub fn get(&self) -> Speed {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another speed from now on.
    pub fn set(&self, speed: Speed) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = speed;
    }

    /// A simulated delay at this speed.
    pub fn scaled(&self, delay: Duration) -> Duration {
        match self.get() {
            Speed::Times(factor) => delay.div_f64(factor),
            Speed::Word(Max::Max) => Duration::ZERO,
        }
    }
}
