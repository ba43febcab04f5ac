//! The archive of removed instances, for operators.

use jiff::Timestamp;
use serde::Serialize;
use store::broker::ArchivedInstance;
use uuid::Uuid;

use super::{Broker, Error};

/// A page of the archive.
#[derive(Debug, Clone, Serialize)]
pub struct ArchivePage {
    /// By id.
    pub archived: Vec<ArchiveItem>,
    /// The `after` of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The archive entry of a removed instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchiveItem {
    pub instance: String,
    pub global_account: String,
    /// The global account that paid for its clusters.
    pub subscription_global_account: String,
    pub subaccount: String,
    pub plan_id: String,
    pub plan_name: String,
    pub provider: String,
    /// The provider's region.
    pub region: String,
    pub platform_region: String,
    pub shoot_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_runtime_id: Option<Uuid>,
    /// Whether a user of the operating company ordered it.
    pub internal_user: bool,
    /// How the first order ended.
    pub provisioning_state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning_started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning_finished_at: Option<Timestamp>,
    pub first_deprovisioning_started_at: Timestamp,
    pub first_deprovisioning_finished_at: Timestamp,
    pub last_deprovisioning_finished_at: Timestamp,
    pub archived_at: Timestamp,
}

impl From<ArchivedInstance> for ArchiveItem {
    fn from(kept: ArchivedInstance) -> Self {
        Self {
            instance: kept.instance,
            global_account: kept.global_account,
            subscription_global_account: kept.subscription_global_account,
            subaccount: kept.subaccount,
            plan_id: kept.plan_id,
            plan_name: kept.plan_name,
            provider: kept.provider,
            region: kept.region,
            platform_region: kept.platform_region,
            shoot_name: kept.shoot_name,
            last_runtime_id: kept.last_runtime_id,
            internal_user: kept.internal_user,
            provisioning_state: kept.provisioning_state,
            provisioning_started_at: kept.provisioning_started_at.map(Into::into),
            provisioning_finished_at: kept.provisioning_finished_at.map(Into::into),
            first_deprovisioning_started_at: kept.first_deprovisioning_started_at.into(),
            first_deprovisioning_finished_at: kept.first_deprovisioning_finished_at.into(),
            last_deprovisioning_finished_at: kept.last_deprovisioning_finished_at.into(),
            archived_at: kept.archived_at.into(),
        }
    }
}

impl Broker {
    /// Archived instances by id, of one global account or of all, behind the instance `after`.
    pub async fn archive(
        &self,
        account: Option<&str>,
        after: Option<&str>,
        most: u32,
    ) -> Result<ArchivePage, Error> {
        let store = &self.parts().store;
        let mut rows =
            store.archived_page(account, after.unwrap_or_default(), most.saturating_add(1)).await?;
        let more = rows.len() > most as usize;
        rows.truncate(most as usize);
        let next = rows.last().filter(|_| more).map(|last| last.instance.clone());
        Ok(ArchivePage { archived: rows.into_iter().map(ArchiveItem::from).collect(), next })
    }

    /// The archive entry of one instance.
    pub async fn archived_instance(&self, instance: &str) -> Result<Option<ArchiveItem>, Error> {
        let found = self.parts().store.find_archived(instance).await?;
        Ok(found.map(ArchiveItem::from))
    }
}
