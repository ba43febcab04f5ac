//! What an existing runtime is to become. What is absent stays.

use async_graphql::InputObject;
use provisioner::requests::{Upgrade, UpgradeShoot};

use super::{kyma::KymaConfigInput, provider::ProviderSpecificInput, wrong::InputError};

/// Other versions; either or both.
#[derive(InputObject)]
pub(in crate::graphql) struct UpgradeRuntimeInput {
    kyma_config: Option<KymaConfigInput>,
    kubernetes_version: Option<String>,
}

/// Other settings of a cluster.
#[derive(InputObject)]
pub(in crate::graphql) struct UpgradeShootInput {
    gardener_config: GardenerUpgradeInput,
    /// All of them: others are no administrators afterwards.
    administrators: Option<Vec<String>>,
}

#[derive(InputObject)]
struct GardenerUpgradeInput {
    #[graphql(flatten)]
    change: UpgradeShoot,
    provider_specific_config: Option<ProviderSpecificInput>,
}

impl UpgradeRuntimeInput {
    pub(in crate::graphql) fn request(self) -> Result<Upgrade, InputError> {
        let kyma = self.kyma_config.map(KymaConfigInput::request).transpose();
        Ok(Upgrade {
            kyma: kyma.map_err(|wrong| wrong.within("kymaConfig"))?,
            kubernetes_version: self.kubernetes_version,
        })
    }
}

impl UpgradeShootInput {
    pub(in crate::graphql) fn request(self) -> UpgradeShoot {
        let GardenerUpgradeInput { change, provider_specific_config } = self.gardener_config;
        UpgradeShoot {
            provider_config: provider_specific_config.map(ProviderSpecificInput::request),
            administrators: self.administrators.unwrap_or_default(),
            ..change
        }
    }
}
