//! Removed instances in newer generations of the original broker.

use jiff::Timestamp;
use serde::Deserialize;

use super::{
    super::{
        Error, RowError,
        read::{moment, null_is_default, row},
    },
    KebSource,
};

const ALL: &str = "
    SELECT a.instance_id::text, row_to_json(a)::text FROM instances_archived a ORDER BY a.instance_id";

/// A removed instance in the archive of the original broker.
#[derive(Debug, Clone, Deserialize)]
pub struct KebArchived {
    pub instance_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub global_account_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub subscription_global_account_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub subaccount_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub plan_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub plan_name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub provider: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub region: String,
    /// The region of the platform.
    #[serde(default, deserialize_with = "null_is_default")]
    pub subaccount_region: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub shoot_name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub last_runtime_id: String,
    #[serde(default, deserialize_with = "null_is_default")]
    pub internal_user: bool,
    #[serde(default, deserialize_with = "null_is_default")]
    pub provisioning_state: String,
    #[serde(default, deserialize_with = "moment")]
    pub provisioning_started_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub provisioning_finished_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub first_deprovisioning_started_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub first_deprovisioning_finished_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "moment")]
    pub last_deprovisioning_finished_at: Option<Timestamp>,
}

impl KebSource {
    /// The next archived instances by id; nothing after the last ones, or where there is no archive.
    pub async fn next_archived(
        &mut self,
        most: u32,
    ) -> Result<Vec<Result<KebArchived, RowError>>, Error> {
        if !self.source.has("instances_archived", "instance_id") {
            return Ok(Vec::new());
        }
        let rows = self.next_rows("kcp_archived", ALL, most).await?;
        Ok(rows.into_iter().map(|(id, text)| row(&id, &text)).collect())
    }
}
