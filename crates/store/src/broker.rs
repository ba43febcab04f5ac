//! The broker's tables: instances, and what was sent for their runtimes.
//!
//! They are in the same database as the engine's, so that an instance and its operation are written
//! together. What a reader would get wrong: a transaction that changes an instance and an operation touches
//! the *operation first*, as a step's commit does; only an instance that nobody can see yet comes before
//! its operation. And an instance's row goes with the instance, while its operations stay.

mod accept;
mod accept_new;
mod archive;
mod bindings;
mod change_order;
mod changes;
mod creations;
mod digests;
mod import;
#[cfg(any(test, feature = "testing"))]
mod insert;
mod instances;
mod job_details;
mod jobs;
mod limits;
mod list;
mod lms_tenants;
mod maintenances;
mod orchestrations;
mod pool;
mod removed;
mod rows;
mod standing;
mod states;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use base::Clock;

pub use accept::AcceptedChange;
pub use accept_new::AcceptedInstance;
pub use archive::{ArchivedInstance, EndedRemoval};
pub use bindings::{Attempt, BeginBinding, Binding, BindingState, NewBinding};
pub use changes::{FieldRevision, InstanceChange, InstancePlan, RuntimeId, StateChange, TOPIC};
pub use creations::{Creation, NewCreation};
pub use import::{
    ImportOutcome, ImportedBinding, ImportedInstance, ImportedMember, ImportedOrchestration,
    ImportedState,
};
pub use instances::InstanceCount;
pub use job_details::{NumberedDetail, StoredDetail};
pub use limits::{InstanceLimits, Limit, ReachedLimit};
pub use list::{InstanceFilter, Page, PageKey};
pub use lms_tenants::LmsTenant;
pub use maintenances::{Maintenance, MaintenanceOf, MaintenancePart, SuspendedEvaluation};
pub use orchestrations::{
    Count, Counts, Fields, Member, MemberFilter, MemberPage, MemberStart, NewMember,
    NewOrchestration, Orchestration, Resolution, Span, StartResult,
};
pub use pool::PoolSample;
pub use removed::{RemovedInstance, RemovedKey};
pub use rows::{Instance, LONGEST, NewInstance};
pub use standing::Standing;
pub use states::{NewRuntimeState, RuntimeState};

pub(crate) use rows::columns;

use crate::{Database, EngineStore, Sealer};

/// The broker's store. Clones share everything.
#[derive(Clone)]
pub struct BrokerStore {
    engine: EngineStore,
    sealer: Sealer,
    clock: Clock,
}

impl BrokerStore {
    /// A store beside the engine's, on a database that was migrated for both.
    pub fn new(engine: EngineStore, clock: Clock) -> Self {
        let sealer = engine.sealer().clone();
        let changes = changes::Changes { sealer: sealer.clone(), clock: clock.clone() };
        Self { engine: engine.with_changes(Arc::new(changes)), sealer, clock }
    }

    /// The engine's store, which applies every [`InstanceChange`].
    pub fn engine(&self) -> &EngineStore {
        &self.engine
    }

    fn database(&self) -> &Database {
        self.engine.database()
    }
}
