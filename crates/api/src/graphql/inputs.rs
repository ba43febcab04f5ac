//! What clients send, name for name, and how it becomes a request.

mod cluster;
mod kyma;
mod labels;
mod provider;
mod upgrade;
mod wrong;

use async_graphql::InputObject;
use provisioner::requests::Provision;

pub(super) use upgrade::{UpgradeRuntimeInput, UpgradeShootInput};

use cluster::GardenerConfigInput;
use kyma::KymaConfigInput;
use labels::Labels;
use wrong::InputError;

/// A new runtime.
#[derive(InputObject)]
pub(super) struct ProvisionRuntimeInput {
    runtime_input: RuntimeInput,
    cluster_config: ClusterConfigInput,
    /// What is installed; nothing when absent.
    kyma_config: Option<KymaConfigInput>,
}

/// How the Director knows a runtime.
#[derive(InputObject)]
struct RuntimeInput {
    name: String,
    description: Option<String>,
    labels: Option<Labels>,
}

#[derive(InputObject)]
struct ClusterConfigInput {
    gardener_config: GardenerConfigInput,
    /// Who may do everything in the cluster.
    administrators: Option<Vec<String>>,
}

impl ProvisionRuntimeInput {
    pub(super) fn request(self, runtime_id: Option<String>) -> Result<Provision, InputError> {
        let RuntimeInput { name, description, labels } = self.runtime_input;
        let cluster = self.cluster_config.gardener_config.request();
        let kyma = self.kyma_config.map(KymaConfigInput::request).transpose();
        Ok(Provision {
            runtime_id,
            name,
            description,
            labels: labels.map(|labels| labels.0).unwrap_or_default(),
            cluster: cluster
                .map_err(|wrong| wrong.within("gardenerConfig").within("clusterConfig"))?,
            administrators: self.cluster_config.administrators.unwrap_or_default(),
            kyma: kyma.map_err(|wrong| wrong.within("kymaConfig"))?,
        })
    }
}
