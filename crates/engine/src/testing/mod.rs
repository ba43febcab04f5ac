//! Run a plan to its end; crash it anywhere; compare. A plan gets all of it in one line:
//! `engine::testing::prove(&scenario, &stores).await`.

mod disturbance;
mod generated;
mod simulated;
mod stored;
mod trial;

use std::sync::Arc;

use base::Clock;

pub use generated::{Part, Proof, prove, prove_part, prove_some, prove_step};
pub use simulated::{Faults, SimulatedStore};
pub use stored::is_as_stored;
pub use trial::{Scenario, Setting, Stores, TrialEnd, TrialResult, World, try_out};

use crate::planted::PlantedBug;

/// Trials on the simulated store: the fastest, and enough for a plan whose changes it need not see.
pub struct InMemory(SimulatedStore);

impl Default for InMemory {
    fn default() -> Self {
        Self(SimulatedStore::new(Clock::running(), 1, Faults::default(), PlantedBug::Nothing))
    }
}

impl Stores for InMemory {
    type Store = SimulatedStore;

    async fn create(&self, clock: &Clock) -> Self {
        Self(SimulatedStore::new(clock.clone(), 1, Faults::default(), PlantedBug::Nothing))
    }

    async fn open(&self) -> Arc<SimulatedStore> {
        Arc::new(self.0.clone())
    }
}
