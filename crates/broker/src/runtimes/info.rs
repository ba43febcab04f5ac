//! Runtimes as metering reads them: every instance whose row is there, also suspended ones and those of which something is left over.

use jiff::Timestamp;
use serde::Serialize;

use super::{Export, OperationItem, Runtime, RuntimesQuery, StateWord};
use crate::instances::{Broker, Caller, Error};

/// A runtime, as metering reads it. The names of fields are those that clients rely on.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeInfo {
    /// The cluster; empty while there is none.
    pub runtime_id: String,
    /// The global account.
    pub global_account_id: String,
    /// The subaccount.
    pub subaccount_id: String,
    /// The platform's region.
    pub subaccount_region: String,
    /// The instance.
    pub service_instance_id: String,
    /// The service.
    pub service_class_id: String,
    /// The service's name.
    pub service_class_name: String,
    pub service_plan_id: String,
    /// The plan's name.
    pub service_plan_name: String,
    /// How it stands.
    pub status: InfoStatus,
}

/// How a runtime stands, as metering reads it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InfoStatus {
    /// When it was ordered.
    pub created_at: Timestamp,
    /// When its newest operation that has begun was last written.
    pub updated_at: Timestamp,
    /// When it was removed, with something left over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// The operation that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<InfoOperation>,
    /// The operation that removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprovisioning: Option<InfoOperation>,
}

/// An operation, as metering reads it.
#[derive(Debug, Clone, Serialize)]
pub struct InfoOperation {
    pub state: &'static str,
    /// Its progress or end.
    pub description: String,
}

impl Broker {
    /// Everything that metering reads, for [`RuntimeInfo`]. Nothing is read yet.
    pub fn runtime_infos(&self, caller: &Caller) -> Result<Export, Error> {
        self.export(
            caller,
            RuntimesQuery { states: vec![StateWord::All], ..RuntimesQuery::default() },
        )
    }
}

impl From<Runtime> for RuntimeInfo {
    fn from(runtime: Runtime) -> Self {
        let status = runtime.status;
        Self {
            runtime_id: runtime.runtime_id,
            global_account_id: runtime.global_account_id,
            subaccount_id: runtime.sub_account_id,
            subaccount_region: runtime.sub_account_region,
            service_instance_id: runtime.instance_id,
            service_class_id: runtime.service_class_id,
            service_class_name: runtime.service_class_name,
            service_plan_id: runtime.service_plan_id,
            service_plan_name: runtime.service_plan_name,
            status: InfoStatus {
                created_at: status.created_at,
                updated_at: status.modified_at,
                deleted_at: status.deleted_at,
                provisioning: status.provisioning.map(Into::into),
                deprovisioning: status.deprovisioning.map(Into::into),
            },
        }
    }
}

impl From<OperationItem> for InfoOperation {
    fn from(operation: OperationItem) -> Self {
        Self { state: operation.state, description: operation.description }
    }
}
