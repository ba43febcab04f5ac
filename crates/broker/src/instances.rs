//! The use cases behind the Open Service Broker API: one file each.
//!
//! What a reader would get wrong: nothing outside is changed here. An order is checked, resolved and stored with its
//! operation in one transaction; everything else is done by the operation. The one look outside is into the pool of
//! accounts, and it takes no longer than two seconds.

mod activity;
mod archive;
mod catalog;
mod context;
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
mod plan_change;
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
    accounts::PooledAccounts,
    catalog::{Catalog, Offer},
    runtimes::PageMarks,
};
use durations::Durations;

pub use archive::{ArchiveItem, ArchivePage};
pub use error::Error;
pub(crate) use failures::Reader;
pub use find::{InstanceView, Record};
pub use labels::{Labels, TrialNotice};
pub use last_operation::{LastOperation, Progress};
pub use leftovers::{LeftoverPage, MayExist, MayExistPage};
pub use provision::AcceptedOrder;
pub(crate) use provision::comparable;
pub use requests::{Caller, Deprovision, Provision, Update};
pub(crate) use suspension::Course;
pub use update::{AcceptedUpdate, AccountMove, Effect};
pub use upgrade::{Upgrade, UpgradeTarget};

/// The broker. Clones are the same one.
#[derive(Clone)]
pub struct Broker(Arc<Inner>);

/// The services and settings of the broker.
pub struct Parts {
    /// Its rows.
    pub store: BrokerStore,
    /// The operations beside them.
    pub operations: EngineStore,
    /// The plans that operations follow, without their code.
    pub shapes: Vec<Arc<Shape>>,
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// Which part of it.
    pub offer: Offer,
    /// The provider accounts that pay for clusters. Without them, that there are none is found by the operation.
    pub accounts: Option<Arc<PooledAccounts>>,
    /// Everything else that an operator decides.
    pub settings: Settings,
    /// The time.
    pub clock: Clock,
}

/// The operator's settings of responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The dashboard that opens every instance.
    pub dashboard: String,
    /// The domain under which clusters get theirs.
    pub shoot_domain: String,
    /// The broker's own address, when instances are labelled with where their kubeconfig is.
    pub kubeconfig_label: Option<String>,
    /// The notice about the end of a trial.
    pub trial_notice: Option<TrialNotice>,
    /// Requirements of orders in legacy mode; none otherwise.
    pub legacy: Option<LegacyNeeds>,
    /// Which instances can be suspended, and which expire.
    pub suspension: SuspensionPlans,
}

/// The names of the plans whose instances sleep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspensionPlans {
    /// Plans that platforms suspend and resume by `context.active`.
    pub suspended: Vec<String>,
    /// Plans that expire: their instances are suspended for good.
    pub expiring: Vec<String>,
}

impl Default for SuspensionPlans {
    fn default() -> Self {
        let named = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Self { suspended: named(&["trial"]), expiring: named(&["trial", "free"]) }
    }
}

/// Requirements of an order in legacy mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegacyNeeds {
    /// Whether it has to bring credentials of the Service Manager, because operators have set none.
    pub service_manager: bool,
}

struct Inner {
    parts: Parts,
    shapes: HashMap<String, Arc<Shape>>,
    durations: Durations,
    numbered: PageMarks,
}

impl Broker {
    /// A broker of these parts.
    pub fn new(parts: Parts) -> Self {
        let shapes = parts.shapes.iter().map(|shape| (shape.kind.clone(), shape.clone())).collect();
        Self(Arc::new(Inner {
            parts,
            shapes,
            durations: Durations::default(),
            numbered: PageMarks::default(),
        }))
    }

    /// Its services and settings.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// The page marks of long lists.
    pub(crate) fn numbered(&self) -> &PageMarks {
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

    /// The newest operation of an instance, of one of these kinds, that was not stopped before it began; the newest if all of them were.
    pub(crate) async fn newest_effective(
        &self,
        instance: &str,
        kinds: &[&str],
    ) -> Result<Option<Snapshot>, Error> {
        match self.parts().store.last_effective_operation(instance, kinds).await? {
            Some(id) => self.snapshot(id).await,
            None => Ok(None),
        }
    }
}
