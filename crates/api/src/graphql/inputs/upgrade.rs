//! What an existing runtime is to become. What is absent stays.

use async_graphql::InputObject;
use provisioner::{
    configuration::Oidc,
    requests::{Upgrade, UpgradeShoot},
};

use super::{
    cluster::OidcConfigInput, kyma::KymaConfigInput, provider::ProviderSpecificInput, wrong::Wrong,
};

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
    /// Only upwards.
    kubernetes_version: Option<String>,
    machine_type: Option<String>,
    disk_type: Option<String>,
    #[graphql(name = "volumeSizeGB")]
    volume_size_gb: Option<i32>,
    worker_cidr: Option<String>,
    /// Cannot be changed.
    target_secret: Option<String>,
    /// At least 1.
    auto_scaler_min: Option<i32>,
    auto_scaler_max: Option<i32>,
    machine_image: Option<String>,
    machine_image_version: Option<String>,
    max_surge: Option<i32>,
    max_unavailable: Option<i32>,
    purpose: Option<String>,
    enable_kubernetes_version_auto_update: Option<bool>,
    enable_machine_image_version_auto_update: Option<bool>,
    provider_specific_config: Option<ProviderSpecificInput>,
    oidc_config: Option<OidcConfigInput>,
    exposure_class_name: Option<String>,
    shoot_networking_filter_disabled: Option<bool>,
}

impl UpgradeRuntimeInput {
    pub(in crate::graphql) fn request(self) -> Result<Upgrade, Wrong> {
        let kyma = self.kyma_config.map(KymaConfigInput::request).transpose();
        Ok(Upgrade {
            kyma: kyma.map_err(|wrong| wrong.within("kymaConfig"))?,
            kubernetes_version: self.kubernetes_version,
        })
    }
}

impl UpgradeShootInput {
    pub(in crate::graphql) fn request(self) -> UpgradeShoot {
        let input = self.gardener_config;
        UpgradeShoot {
            kubernetes_version: input.kubernetes_version,
            machine_type: input.machine_type,
            disk_type: input.disk_type,
            volume_size_gb: input.volume_size_gb,
            worker_cidr: input.worker_cidr,
            target_secret: input.target_secret,
            auto_scaler_min: input.auto_scaler_min,
            auto_scaler_max: input.auto_scaler_max,
            machine_image: input.machine_image,
            machine_image_version: input.machine_image_version,
            max_surge: input.max_surge,
            max_unavailable: input.max_unavailable,
            purpose: input.purpose,
            kubernetes_auto_update: input.enable_kubernetes_version_auto_update,
            machine_image_auto_update: input.enable_machine_image_version_auto_update,
            provider_config: input.provider_specific_config.map(ProviderSpecificInput::request),
            oidc: input.oidc_config.map(Oidc::from),
            exposure_class_name: input.exposure_class_name,
            networking_filter_disabled: input.shoot_networking_filter_disabled,
            administrators: self.administrators.unwrap_or_default(),
        }
    }
}
