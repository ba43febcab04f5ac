//! The provisioner's tables: runtimes, and the intents that come before them.
//!
//! They are in the same database as the engine's, so that a runtime and its operation are written
//! together. What a reader would get wrong: a transaction that writes both touches the *operation first*, as a
//! step's commit does; the other order would deadlock with it.

mod accept;
mod changes;
mod import;
#[cfg(any(test, feature = "testing"))]
mod insert;
mod intents;
mod rows;
mod runtimes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use base::Clock;

pub use accept::{Move, NewRuntimeResult};
pub use changes::{RuntimeChange, TOPIC};
pub use import::{ImportedRuntime, RuntimeOutcome};
pub use intents::{AbandonedIntent, Intent};
pub use rows::{Kubeconfig, NewRuntime, Runtime};

use crate::{Database, EngineStore, Sealer};

/// The provisioner's store. Clones share everything.
#[derive(Clone)]
pub struct ProvisionerStore {
    engine: EngineStore,
    sealer: Sealer,
    clock: Clock,
}

impl ProvisionerStore {
    /// A store beside the engine's, on a database that was migrated for both.
    pub fn new(engine: EngineStore, clock: Clock) -> Self {
        let sealer = engine.sealer().clone();
        let changes = changes::Changes { sealer: sealer.clone(), clock: clock.clone() };
        Self { engine: engine.with_changes(Arc::new(changes)), sealer, clock }
    }

    /// The engine's store, which applies every [`RuntimeChange`].
    pub fn engine(&self) -> &EngineStore {
        &self.engine
    }

    fn database(&self) -> &Database {
        self.engine.database()
    }
}
