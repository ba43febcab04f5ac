//! Orchestrations and their operations in the words of the API.

use std::collections::BTreeMap;

use domain::orchestration::{Kind, KubernetesVersion, Parameters, no_time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use store::broker::{Counts, Member, Orchestration};
use uuid::Uuid;

use super::{OrchestrationEnv, kind, parameters};
use crate::{instances::Error, runtimes::configs};

/// So many operations, for people.
pub(crate) fn operation_count(count: usize) -> String {
    format!("{count} operation{}", if count == 1 { "" } else { "s" })
}

/// An orchestration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusItem {
    /// Its id.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
    /// The kind of the upgrade.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// How far it is.
    pub state: String,
    /// Its progress, for people.
    pub description: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Its parameters.
    pub parameters: Parameters,
    /// How many runtimes are how far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_stats: Option<BTreeMap<String, u64>>,
    /// Whether nothing starts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_reason: Option<String>,
}

/// The upgrade of one runtime.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationItem {
    /// The operation.
    #[serde(rename = "operationID")]
    pub operation_id: Uuid,
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
    /// The orchestration.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
    /// The plan.
    #[serde(rename = "servicePlanID")]
    pub service_plan_id: String,
    /// The name of the plan.
    pub service_plan_name: String,
    /// Whether nothing is changed.
    pub dry_run: bool,
    /// The name of the Shoot.
    pub shoot_name: String,
    /// Not before; the year 1 for no time.
    pub maintenance_window_begin: Timestamp,
    /// Not after; the year 1 for no time.
    pub maintenance_window_end: Timestamp,
    /// How far it is.
    pub state: String,
    /// Its progress, for people.
    pub description: String,
}

/// The upgrade of one runtime, with what it is upgraded to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationDetail {
    /// The fields that lists show.
    #[serde(flatten)]
    pub item: OperationItem,
    /// The Kyma that it gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyma_config: Option<Value>,
    /// The cluster that it gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_config: Option<Value>,
}

impl OrchestrationEnv {
    pub(super) fn status(
        &self,
        row: Orchestration,
        counts: Option<&Counts>,
    ) -> Result<StatusItem, Error> {
        let (kind, parameters) = (kind(&row), self.effective_parameters(&row)?);
        Ok(StatusItem {
            orchestration_id: row.id,
            kind,
            state: row.state,
            description: row.description,
            created_at: row.created_at,
            updated_at: row.updated_at,
            parameters,
            operation_stats: counts.map(stats),
            paused: row.paused,
            pause_reason: row.pause_reason,
        })
    }

    /// The parameters of an orchestration, with the versions that it uses where none was requested.
    fn effective_parameters(&self, row: &Orchestration) -> Result<Parameters, Error> {
        let mut parameters = parameters(row)?;
        match kind(row) {
            Kind::UpgradeKyma => {
                let version = &mut parameters.kyma.get_or_insert_default().version;
                if version.is_empty() {
                    version.clone_from(&self.kyma_version);
                }
            }
            Kind::UpgradeCluster => {
                let asked: &mut KubernetesVersion = parameters.kubernetes.get_or_insert_default();
                if asked.kubernetes_version.is_empty() {
                    let catalog = &self.broker.parts().catalog;
                    asked.kubernetes_version.clone_from(&catalog.defaults().kubernetes_version);
                }
            }
        }
        Ok(parameters)
    }

    /// What was sent for the runtime; until then, what is asked for.
    pub(super) async fn detail(
        &self,
        row: &Orchestration,
        member: Member,
    ) -> Result<OperationDetail, Error> {
        let parameters = self.effective_parameters(row)?;
        let sent = async |holding: &'static str| {
            self.store().runtime_state_of(member.runtime_id, member.operation, holding).await
        };
        let (kyma_config, cluster_config) = match kind(row) {
            Kind::UpgradeKyma => {
                let sent = sent("kyma-version").await?.as_ref().and_then(configs::kyma);
                let asked = || json!(parameters.kyma.clone().unwrap_or_default());
                (Some(sent.map_or_else(asked, |(_, config)| config)), None)
            }
            Kind::UpgradeCluster => {
                let sent = sent("cluster-config").await?.as_ref().and_then(configs::cluster);
                let asked = || json!(parameters.kubernetes.clone().unwrap_or_default());
                (None, Some(sent.map_or_else(asked, |(_, config)| config)))
            }
        };
        Ok(OperationDetail { item: item(member, parameters.dry_run), kyma_config, cluster_config })
    }
}

/// How many runtimes are how far. Clients expect how many failed, also when none did.
fn stats(counts: &Counts) -> BTreeMap<String, u64> {
    let mut stats = BTreeMap::from([("failed".to_owned(), 0)]);
    for count in &counts.0 {
        *stats.entry(count.state.clone()).or_default() += count.number.unsigned_abs();
    }
    stats
}

pub(super) fn item(member: Member, dry_run: bool) -> OperationItem {
    OperationItem {
        operation_id: member.operation,
        instance_id: member.instance,
        runtime_id: member.runtime_id,
        global_account_id: member.global_account,
        sub_account_id: member.subaccount,
        orchestration_id: member.orchestration,
        service_plan_id: member.plan_id,
        service_plan_name: member.plan_name,
        dry_run,
        shoot_name: member.shoot_name,
        maintenance_window_begin: member.window_begin.unwrap_or_else(no_time),
        maintenance_window_end: member.window_end.unwrap_or_else(no_time),
        state: member.state,
        description: member.description,
    }
}
