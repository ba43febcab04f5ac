//! The use cases behind the API: one file each.
//!
//! What a reader would get wrong: nothing outside is changed here, except that a new runtime is
//! registered in the Director, whose id it has. Everything else is done by the operation that is accepted.

mod access;
mod begin;
mod deprovision;
mod hibernate;
mod operation_change;
mod operation_status;
mod problems;
mod provision;
mod reconnect_agent;
mod roll_back_upgrade;
mod runtime_status;
mod upgrade;
mod upgrade_shoot;

use std::sync::Arc;

use base::Clock;
use engine::Engine;
use store::{EngineStore, ProvisionerStore};

use crate::{
    changes::Changes,
    checking::Defaults,
    limits::{LongestOperations, StageLimits},
    operations::Env,
};
pub use operation_change::Follow;
pub(crate) use provision::INTENT_LABEL;

/// The caller, and its tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The global account; empty when the caller named none.
    pub tenant: String,
    /// Whether the caller speaks for all tenants, as the broker does. Such a one sees every runtime, and what it
    /// changes under another tenant than the stored one moves there: accounts move, and their runtimes with them.
    pub any_tenant: bool,
    /// The subaccount, when the caller named one.
    pub subaccount: Option<String>,
    /// By which a repeated request is recognised.
    pub idempotency_key: Option<String>,
}

/// The provisioner. Clones are the same one.
#[derive(Clone)]
pub struct Provisioner(Arc<Inner>);

struct Inner {
    parts: Parts,
    changes: Changes,
}

impl std::ops::Deref for Inner {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

/// The services and settings of the provisioner.
pub struct Parts {
    /// Its rows.
    pub store: ProvisionerStore,
    /// The engine.
    pub engine: Engine<EngineStore>,
    /// Its clients and settings.
    pub env: Arc<Env>,
    /// Defaults for fields that requests leave out.
    pub defaults: Defaults,
    /// How long operations may take.
    pub limits: StageLimits,
    /// The time.
    pub clock: Clock,
}

impl Provisioner {
    /// A provisioner of these parts.
    pub fn new(parts: Parts) -> Self {
        let changes = Changes::new(parts.engine.clone(), parts.clock.clone());
        Self(Arc::new(Inner { parts, changes }))
    }

    /// The longest that its operations may take.
    pub fn longest(&self) -> LongestOperations {
        self.0.limits.longest()
    }

    /// Its services and settings.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// How many callers wait for an operation to change.
    pub fn waiting(&self) -> usize {
        self.0.changes.waiting()
    }

    /// Answers everybody who waits for an operation to change, and lets nobody wait any more: the service ends.
    pub fn end_waits(&self) {
        self.0.changes.stop();
    }
}
