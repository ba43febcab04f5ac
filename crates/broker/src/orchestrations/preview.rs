//! Previews of orchestrations.

use domain::orchestration::{Kind, Parameters};
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::{
    Orchestrations,
    resolve::{ResolveError, resolve},
    validate::validate,
};
use crate::instances::Error;

/// The preview of an orchestration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The kind of the orchestration.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// As it would be stored.
    pub parameters: Parameters,
    /// How many runtimes.
    pub count: usize,
    /// The runtimes, in their order.
    pub runtimes: Vec<PreviewItem>,
    /// Selected runtimes that cannot be upgraded now.
    pub skipped: Vec<SkippedItem>,
}

/// A runtime that would be upgraded.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewItem {
    /// The instance.
    #[serde(rename = "instanceID")]
    pub instance_id: String,
    /// The runtime.
    #[serde(rename = "runtimeID")]
    pub runtime_id: Uuid,
    /// The global account.
    #[serde(rename = "globalAccountID")]
    pub global_account_id: String,
    /// The subaccount.
    #[serde(rename = "subAccountID")]
    pub sub_account_id: String,
    /// The name of the plan.
    pub service_plan_name: String,
    /// The provider's region.
    pub region: String,
    /// The name of the Shoot.
    pub shoot_name: String,
    /// Whether it goes first.
    pub canary: bool,
    /// Not before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_window_begin: Option<Timestamp>,
    /// Not after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_window_end: Option<Timestamp>,
}

/// A runtime that is meant and cannot be upgraded now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedItem {
    /// The instance.
    #[serde(rename = "instanceID")]
    pub instance_id: String,
    /// The name of the Shoot.
    pub shoot_name: String,
    /// Why not.
    pub reason: String,
}

impl Orchestrations {
    /// Previews an orchestration. Nothing is stored.
    pub async fn preview(&self, kind: Kind, mut parameters: Parameters) -> Result<Preview, Error> {
        let now = self.0.broker.parts().clock.now();
        let matcher = validate(kind, &mut parameters, now).map_err(Error::Bad)?;
        self.check_version(&parameters).await?;
        let resolved =
            resolve(&self.0, &matcher, &parameters, now).await.map_err(|error| match error {
                ResolveError::Store(error) => Error::from(error),
                ResolveError::Windows(_) => Error::Unavailable(error.into()),
            })?;
        let regions = resolved.regions.into_iter();
        let runtimes: Vec<PreviewItem> = resolved
            .members
            .into_iter()
            .zip(regions)
            .map(|(member, region)| PreviewItem {
                instance_id: member.instance,
                runtime_id: member.runtime_id,
                global_account_id: member.global_account,
                sub_account_id: member.subaccount,
                service_plan_name: member.plan_name,
                region,
                shoot_name: member.shoot_name,
                canary: member.wave == 0,
                maintenance_window_begin: member.window_begin,
                maintenance_window_end: member.window_end,
            })
            .collect();
        let skipped = resolved.skipped.into_iter().map(|it| SkippedItem {
            instance_id: it.instance,
            shoot_name: it.shoot_name,
            reason: it.reason,
        });
        let skipped = skipped.collect();
        Ok(Preview { kind, parameters, count: runtimes.len(), runtimes, skipped })
    }
}
