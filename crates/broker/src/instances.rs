//! The use cases behind the Open Service Broker API: one file each.
//!
//! What a reader would get wrong: nothing outside is changed here. An order is checked, resolved and stored with its
//! operation in one transaction; everything else is done by the operation. The one look outside is into the pool of
//! accounts, and it takes no longer than two seconds.

mod activity;
mod archive;
mod catalog;
mod deprovision;
mod describing;
mod durations;
mod error;
mod failures;
mod find;
mod labels;
mod last_operation;
mod leftovers;
mod limits;
mod orderer;
pub mod pairs;
mod provision;
mod repetition;
pub(crate) mod requests;
mod stored;
mod suspension;
mod update;
mod upgrade;

use std::{collections::HashMap, sync::Arc};

use base::Clock;
use engine::{Shape, Storage, storage::Snapshot};
use store::{BrokerStore, EngineStore};
use uuid::Uuid;

use crate::{
    accounts::Accounts,
    catalog::{Catalog, Offer},
    runtimes::Numbered,
};
use durations::Durations;

pub use archive::{ArchiveItem, ArchivePage};
pub use error::Error;
pub(crate) use failures::Reader;
pub use find::{Found, Record};
pub use labels::{Labels, TrialNotice};
pub use last_operation::{LastOperation, Progress};
pub use leftovers::{LeftoverPage, MayExist, MayExistPage};
pub use provision::Provisioned;
pub(crate) use provision::comparable;
pub use requests::{Caller, Deprovision, Provision, Update};
pub use update::Updated;
pub use upgrade::{Upgrade, UpgradeTarget};

/// The broker. Clones are the same one.
#[derive(Clone)]
pub struct Broker(Arc<Inner>);

/// What the broker is made of.
pub struct Parts {
    /// Its rows.
    pub store: BrokerStore,
    /// The operations beside them.
    pub operations: EngineStore,
    /// The plans that operations follow, without their code.
    pub shapes: Vec<Arc<Shape>>,
    /// What can be ordered.
    pub catalog: Arc<Catalog>,
    /// Which part of it.
    pub offer: Offer,
    /// The provider accounts that pay for clusters. Without them, that there are none is found by the operation.
    pub accounts: Option<Arc<dyn Accounts>>,
    /// Everything else that an operator decides.
    pub settings: Settings,
    /// The time.
    pub clock: Clock,
}

/// What an operator decides about answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The dashboard that opens every instance.
    pub dashboard: String,
    /// The domain under which clusters get theirs.
    pub shoot_domain: String,
    /// The broker's own address, when instances are labelled with where their kubeconfig is.
    pub kubeconfig_label: Option<String>,
    /// What owners of trials are told about the end.
    pub trial_notice: Option<TrialNotice>,
    /// What orders need when they go the legacy way; nothing when they do not.
    pub legacy: Option<LegacyNeeds>,
    /// Which instances can be suspended, and which expire.
    pub suspension: SuspensionPlans,
}

/// The names of the plans whose instances sleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspensionPlans {
    /// Those that platforms suspend and bring back by `context.active`.
    pub suspended: Vec<String>,
    /// Those that expire: they are suspended for good.
    pub expiring: Vec<String>,
}

impl Default for SuspensionPlans {
    fn default() -> Self {
        let named = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Self { suspended: named(&["trial"]), expiring: named(&["trial", "free"]) }
    }
}

/// What an order needs when it goes the legacy way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegacyNeeds {
    /// Whether it has to bring credentials of the Service Manager, because operators have set none.
    pub service_manager: bool,
}

struct Inner {
    parts: Parts,
    shapes: HashMap<String, Arc<Shape>>,
    durations: Durations,
    numbered: Numbered,
}

impl Broker {
    /// A broker of these parts.
    pub fn new(parts: Parts) -> Self {
        let shapes = parts.shapes.iter().map(|shape| (shape.kind.clone(), shape.clone())).collect();
        Self(Arc::new(Inner {
            parts,
            shapes,
            durations: Durations::default(),
            numbered: Numbered::default(),
        }))
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// What it remembers of long lists.
    pub(crate) fn numbered(&self) -> &Numbered {
        &self.0.numbered
    }

    pub(crate) async fn snapshot(&self, id: Uuid) -> Result<Option<Snapshot>, Error> {
        Ok(self.parts().operations.read(id).await?)
    }

    /// The newest operation of an instance, of any kind or of these.
    pub(crate) async fn newest(
        &self,
        instance: &str,
        kinds: Option<&[&str]>,
    ) -> Result<Option<Snapshot>, Error> {
        match self.parts().store.last_operation(instance, kinds).await? {
            Some(id) => self.snapshot(id).await,
            None => Ok(None),
        }
    }
}
