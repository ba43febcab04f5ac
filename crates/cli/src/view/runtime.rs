//! Runtimes as the broker tells them, as far as tables show them.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimePage {
    pub(crate) data: Vec<Value>,
    pub(crate) total_count: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Runtime {
    #[serde(rename = "instanceID")]
    pub(crate) instance_id: String,
    #[serde(rename = "runtimeID", default)]
    pub(crate) id: String,
    #[serde(rename = "globalAccountID")]
    pub(crate) global_account_id: String,
    #[serde(rename = "subscriptionGlobalAccountID", default)]
    pub(crate) subscription_global_account_id: String,
    #[serde(rename = "subAccountID")]
    pub(crate) sub_account_id: String,
    pub(crate) sub_account_region: String,
    pub(crate) shoot_name: String,
    pub(crate) region: String,
    pub(crate) service_plan_name: String,
    pub(crate) kyma_version: Option<String>,
    pub(crate) status: Status,
    parameters: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    pub(crate) created_at: Timestamp,
    state: String,
    provisioning: Option<OperationTime>,
    deprovisioning: Option<OperationTime>,
    #[serde(default)]
    unsuspension: Group,
    #[serde(default)]
    suspension: Group,
    #[serde(default)]
    update: Group,
    #[serde(default)]
    upgrading_kyma: Group,
    #[serde(default)]
    upgrading_cluster: Group,
}

#[derive(Deserialize, Default)]
struct Group {
    #[serde(default)]
    data: Vec<OperationTime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OperationTime {
    created_at: Timestamp,
}

impl Runtime {
    /// What questions call it.
    pub(crate) fn called(&self) -> String {
        format!("runtime \"{}\" (instance {})", self.shown_name(), self.instance_id)
    }

    /// What people call it: its name, or its Shoot where the broker lists no names, or its instance.
    pub(crate) fn shown_name(&self) -> &str {
        let names = [self.name(), &self.shoot_name, &self.instance_id];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// The name that its owner gave it.
    pub(crate) fn name(&self) -> &str {
        let name = self.parameters.as_ref().and_then(|parameters| parameters["name"].as_str());
        name.unwrap_or_default()
    }
}

impl Status {
    /// Whether there is a cluster that can be worked with.
    pub(crate) fn is_ready(&self) -> bool {
        ["succeeded", "error", "updating", "upgrading"].contains(&self.state.as_str())
    }

    /// The state; of a failure also what failed.
    pub(crate) fn word(&self) -> String {
        let failed = ["failed", "error"].contains(&self.state.as_str());
        match self.last().filter(|_| failed) {
            Some(what) => format!("{} ({what})", self.state),
            None => self.state.clone(),
        }
    }

    /// The sort of the newest operation.
    fn last(&self) -> Option<&'static str> {
        let one = |ran: &Option<OperationTime>| ran.as_ref().map(|ran| ran.created_at);
        let first = |group: &Group| group.data.first().map(|ran| ran.created_at);
        let sorts = [
            ("provision", one(&self.provisioning)),
            ("deprovision", one(&self.deprovisioning)),
            ("unsuspension", first(&self.unsuspension)),
            ("suspension", first(&self.suspension)),
            ("update", first(&self.update)),
            ("kyma upgrade", first(&self.upgrading_kyma)),
            ("cluster upgrade", first(&self.upgrading_cluster)),
        ];
        let there = sorts.into_iter().filter_map(|(sort, at)| Some((at?, sort)));
        there.max_by_key(|(at, _)| *at).map(|(_, sort)| sort)
    }
}
