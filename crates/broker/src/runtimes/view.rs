//! Runtimes in the words of the API. The names of fields are those that clients rely on.

use domain::{OperationId, parameters::Provisioning};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// Some runtimes, and how many there are in all.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The runtimes, in the order that was asked for.
    pub data: Vec<Runtime>,
    /// How many are on this page.
    pub count: u64,
    /// How many are on all pages.
    pub total_count: u64,
}

/// A runtime.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The instance.
    #[serde(rename = "instanceID")]
    pub instance_id: String,
    /// The cluster; empty while there is none.
    #[serde(rename = "runtimeID")]
    pub runtime_id: String,
    /// The global account.
    #[serde(rename = "globalAccountID")]
    pub global_account_id: String,
    /// The global account that pays, where it is another one.
    #[serde(rename = "subscriptionGlobalAccountID")]
    pub subscription_global_account_id: String,
    /// The subaccount.
    #[serde(rename = "subAccountID")]
    pub sub_account_id: String,
    /// The provider's region.
    pub region: String,
    /// The platform's region.
    pub sub_account_region: String,
    /// The Shoot.
    pub shoot_name: String,
    /// The service.
    #[serde(rename = "serviceClassID")]
    pub service_class_id: String,
    /// The service's name.
    pub service_class_name: String,
    #[serde(rename = "servicePlanID")]
    pub service_plan_id: String,
    /// The plan's name.
    pub service_plan_name: String,
    /// Its provider.
    pub provider: String,
    /// How it stands.
    pub status: Status,
    /// The user who ordered it.
    #[serde(rename = "userID")]
    pub user_id: String,
    /// The evaluation of its availability from inside; 0 when there is none.
    #[serde(rename = "avsInternalEvaluationID")]
    pub avs_internal_evaluation_id: i64,
    /// The version of Kyma.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyma_version: Option<String>,
    /// The parameters of the request, without credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Provisioning>,
    /// The Kyma that it shall have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyma_config: Option<Value>,
    /// The cluster that it shall be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_config: Option<Value>,
}

/// How a runtime stands.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// When it was ordered.
    pub created_at: Timestamp,
    /// When its newest operation that has begun was last written.
    pub modified_at: Timestamp,
    /// When it expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<Timestamp>,
    /// When it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// In one word.
    pub state: &'static str,
    /// The operation that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<OperationItem>,
    /// The operation that removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprovisioning: Option<OperationItem>,
    /// Upgrades of Kyma.
    #[serde(skip_serializing_if = "Group::is_empty")]
    pub upgrading_kyma: Group,
    /// Upgrades of the cluster.
    #[serde(skip_serializing_if = "Group::is_empty")]
    pub upgrading_cluster: Group,
    /// Changes.
    #[serde(skip_serializing_if = "Group::is_empty")]
    pub update: Group,
    /// Removals of the cluster that leave the instance.
    #[serde(skip_serializing_if = "Group::is_empty")]
    pub suspension: Group,
    /// The ways back from them.
    #[serde(skip_serializing_if = "Group::is_empty")]
    pub unsuspension: Group,
}

/// Operations of one sort, newest first.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The newest of them.
    pub data: Vec<OperationItem>,
    /// How many there are.
    pub total_count: u64,
    /// How many are listed.
    pub count: u64,
}

impl Group {
    fn is_empty(&self) -> bool {
        self.total_count == 0
    }
}

/// An operation.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationItem {
    pub state: &'static str,
    /// Its progress or end.
    pub description: String,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    #[serde(rename = "operationID")]
    pub operation_id: OperationId,
    /// The orchestration that it belongs to.
    #[serde(rename = "orchestrationID", skip_serializing_if = "Option::is_none")]
    pub orchestration_id: Option<Uuid>,
    /// Stages that never run again.
    pub finished_stages: Vec<String>,
    /// Steps that were given up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executed_but_not_completed_steps: Vec<String>,
    /// The version of Kyma that it is about.
    pub runtime_version: String,
}
