//! One change over many runtimes: choose them, pace them, tell how far they are.
//!
//! What a reader would get wrong: nothing here upgrades a runtime. A request becomes a row and an operation of the kind
//! `orchestration`, the driver (`operations/orchestration.rs`), which starts an ordinary upgrade for each runtime. Pausing,
//! cancelling and other numbers of workers are changes of the row; the driver is woken and finds them.

mod announcements;
mod cancel;
mod create;
mod follow;
mod list;
mod pace;
pub mod policy;
mod preview;
mod progress;
pub(crate) mod resolve;
mod retry;
pub mod source;
pub mod targets;
mod validate;
mod versions;
mod view;
mod waking;
pub mod windows;

use std::sync::Arc;

use clients::{releases::ComponentLists, spc::Spc};
use domain::orchestration::{Kind, Parameters};
use engine::Storage as _;
use store::{BrokerStore, broker::Orchestration};
use uuid::Uuid;

pub(crate) use announcements::{event_type, is_announced, left_out};
pub use create::CreatedOrchestration;
pub use follow::Followers;
pub use list::{LARGEST_PAGE, PageOf, PageRequest};
pub(crate) use pace::{FailureAllowance, Pace, pace};
pub use preview::{Preview, PreviewItem, SkippedItem};
pub use progress::{Failures, Progress, Slow, Wave};
pub use retry::{Retry, RetryReport};
pub use source::WindowSource;
pub(crate) use view::operation_count;
pub use view::{OperationDetail, OperationItem, StatusItem};
pub use waking::wake_drivers;

use crate::{
    instances::{Broker, Error, Upgrade, UpgradeTarget},
    operations::shared::{OWN_CLUSTER, PREVIEW},
};

/// The services and settings of orchestrations; also the environment of their driver.
pub struct OrchestrationEnv {
    /// The broker: instances, operations, the clock.
    pub broker: Broker,
    /// Where maintenance windows are found.
    pub windows: Arc<dyn WindowSource>,
    /// Notifies customers; without it nobody is notified.
    pub spc: Option<Spc>,
    /// The version of Kyma that is reported when none was requested.
    pub kyma_version: String,
    /// Where versions of Kyma are found; none is looked for without.
    pub versions: Option<ComponentLists>,
    /// Reads the progress of orchestrations for followers.
    pub followers: Followers,
}

/// The use cases. Clones are the same ones.
#[derive(Clone)]
pub struct Orchestrations(Arc<OrchestrationEnv>);

impl Orchestrations {
    /// Orchestrations of these parts.
    pub fn new(parts: Arc<OrchestrationEnv>) -> Self {
        Self(parts)
    }

    /// Their services and settings.
    pub fn parts(&self) -> &Arc<OrchestrationEnv> {
        &self.0
    }

    fn store(&self) -> &BrokerStore {
        self.0.store()
    }

    /// An orchestration, by the text that a request names it by; `doing` begins the message.
    async fn find(&self, id: &str, doing: &str) -> Result<Orchestration, Error> {
        let found = match id.parse() {
            Ok(id) => self.store().orchestration(id).await?,
            Err(_) => None,
        };
        found.ok_or_else(|| {
            Error::NotFound(format!(
                "while {doing} orchestration {id}: there is no such orchestration"
            ))
        })
    }

    /// Lets the driver look at once. It would look by itself soon.
    async fn wake(&self, id: Uuid) {
        self.0.wake(id).await;
    }
}

impl OrchestrationEnv {
    pub(crate) fn store(&self) -> &BrokerStore {
        &self.broker.parts().store
    }

    async fn wake(&self, id: Uuid) {
        if let Err(error) = self.broker.parts().operations.signal(&signal(id)).await {
            tracing::debug!(%error, orchestration = %id, "driver not woken, it polls");
        }
    }

    /// Whether customers are notified of an orchestration.
    pub(crate) fn notifies(&self, parameters: &Parameters) -> bool {
        self.spc.is_some() && is_announced(parameters)
    }

    /// The upgrade of each runtime.
    pub(crate) fn upgrade(&self, id: Uuid, kind: Kind, parameters: &Parameters) -> Upgrade {
        let given = |text: &String| (!text.is_empty()).then(|| text.clone());
        let target = match kind {
            Kind::UpgradeKyma => UpgradeTarget::Kyma {
                version: parameters.kyma.as_ref().and_then(|kyma| given(&kyma.version)),
            },
            Kind::UpgradeCluster => {
                let asked = parameters.kubernetes.clone().unwrap_or_default();
                UpgradeTarget::Cluster {
                    kubernetes_version: given(&asked.kubernetes_version),
                    machine_image: given(&asked.machine_image),
                    machine_image_version: given(&asked.machine_image_version),
                }
            }
        };
        Upgrade {
            orchestration: Some(id),
            dry_run: parameters.dry_run,
            notify: self.notifies(parameters),
            target,
        }
    }
}

/// Wakes the driver of an orchestration.
pub(crate) fn signal(id: Uuid) -> String {
    format!("orchestration/{id}")
}

/// The stored parameters of an orchestration.
pub(crate) fn parameters(row: &Orchestration) -> Result<Parameters, serde_json::Error> {
    serde_json::from_str(&row.parameters)
}

/// Whether a runtime of this plan is changed at all: of an upgrade that changes nothing, customers are not notified.
pub(crate) fn is_changed(kind: Kind, plan_name: &str) -> bool {
    match kind {
        Kind::UpgradeKyma => plan_name != PREVIEW,
        Kind::UpgradeCluster => plan_name != OWN_CLUSTER,
    }
}

/// The kind of an orchestration.
pub(crate) fn kind(row: &Orchestration) -> Kind {
    // The table allows no other word.
    row.kind.parse().unwrap_or(Kind::UpgradeKyma)
}
