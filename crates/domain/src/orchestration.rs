//! One change over many runtimes, as it is requested and reported.
//!
//! What a reader would get wrong: the key of the time is `ScheduleTime`, with a capital letter, and it is always there: the year 1
//! stands for no time. Clients read and write it so.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use strum::{EnumString, IntoStaticStr};

/// The kind of an upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Kind {
    /// Kyma is upgraded.
    UpgradeKyma,
    /// Kubernetes is upgraded.
    UpgradeCluster,
}

/// How far an orchestration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
pub enum State {
    /// Its runtimes are not known yet.
    #[serde(rename = "pending")]
    #[strum(serialize = "pending")]
    Pending,
    /// Its operations are started one after the other.
    #[serde(rename = "in progress")]
    #[strum(serialize = "in progress")]
    InProgress,
    /// It was canceled, and what runs ends first.
    #[serde(rename = "canceling")]
    #[strum(serialize = "canceling")]
    Canceling,
    /// Failed operations are about to be tried again.
    #[serde(rename = "retrying")]
    #[strum(serialize = "retrying")]
    Retrying,
    /// It was canceled, and nothing runs any more.
    #[serde(rename = "canceled")]
    #[strum(serialize = "canceled")]
    Canceled,
    /// Everything ended well.
    #[serde(rename = "succeeded")]
    #[strum(serialize = "succeeded")]
    Succeeded,
    /// Something failed.
    #[serde(rename = "failed")]
    #[strum(serialize = "failed")]
    Failed,
}

impl Kind {
    /// Its word in the API.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl State {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::InProgress,
        Self::Canceling,
        Self::Retrying,
        Self::Canceled,
        Self::Succeeded,
        Self::Failed,
    ];

    /// Its word in the API.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether nothing happens any more without a request.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Canceled | Self::Succeeded | Self::Failed)
    }
}

/// The parameters of an orchestration. Unknown fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Parameters {
    /// Which runtimes.
    pub targets: Targets,
    /// How.
    pub strategy: Strategy,
    /// Whether nothing is changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Which Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<KubernetesVersion>,
    /// Which Kyma.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kyma: Option<KymaVersion>,
    /// Whether customers are notified; without a value, they are where SPC is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification: Option<bool>,
    /// The retried operations. Clients expect the object to be present.
    pub retryoperation: RetryOperation,
}

/// Which runtimes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Targets {
    /// Runtimes that match one of these targets.
    #[serde(deserialize_with = "or_default")]
    pub include: Vec<Target>,
    /// Without those that one of these fits.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Target>,
}

/// The properties that a runtime must match: all that are given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Target {
    /// `all`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// The global account: a pattern.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub global_account: String,
    /// The subaccount: a pattern.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sub_account: String,
    /// The provider's region: a pattern.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub region: String,
    /// The runtime, whatever else is given.
    #[serde(rename = "runtimeID", skip_serializing_if = "String::is_empty")]
    pub runtime_id: String,
    /// The name of the plan.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plan_name: String,
    /// The name of the Shoot.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shoot: String,
    /// The instance.
    #[serde(rename = "instanceID", skip_serializing_if = "String::is_empty")]
    pub instance_id: String,
    /// The version of Kyma: a pattern.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kyma_version: String,
}

/// How an orchestration goes about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    /// `parallel`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `immediate`, `now`, or a time.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub schedule: String,
    /// Before which nothing starts; the year 1 for no time.
    #[serde(rename = "ScheduleTime", alias = "scheduleTime")]
    pub schedule_time: Timestamp,
    /// Whether each runtime's maintenance window is waited for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub maintenance_window: bool,
    /// How many at a time.
    #[serde(deserialize_with = "or_default")]
    pub parallel: Parallel,
    /// How many runtimes go first, alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub canary: i64,
    /// How many failures pause it: a number, or a percentage of all runtimes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_budget: Option<Budget>,
}

impl Default for Strategy {
    fn default() -> Self {
        Self {
            kind: String::new(),
            schedule: String::new(),
            schedule_time: no_time(),
            maintenance_window: false,
            parallel: Parallel::default(),
            canary: 0,
            failure_budget: None,
        }
    }
}

/// How many runtimes at a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parallel {
    /// The number; absent means one.
    pub workers: i64,
}

/// How many failures pause an orchestration, in the words of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Budget {
    /// A number.
    Number(i64),
    /// A number, or a percentage: `"10%"`.
    Text(String),
}

/// Which Kubernetes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KubernetesVersion {
    /// The version.
    pub kubernetes_version: String,
    /// The machines' image.
    pub machine_image: String,
    /// The version of that image.
    pub machine_image_version: String,
}

/// Which Kyma.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KymaVersion {
    /// The version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
}

/// What is tried again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryOperation {
    /// The operations that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retryoperations: Vec<String>,
}

/// The year 1: no time is given.
pub fn no_time() -> Timestamp {
    // 0001-01-01T00:00:00Z
    Timestamp::from_second(-62_135_596_800).unwrap_or(Timestamp::MIN)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference to the field")]
fn is_zero(value: &i64) -> bool {
    *value == 0
}

/// `null` is nothing.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_clients_send_is_read_and_told_in_the_same_words() {
        let sent = json!({
            "targets": { "include": [{ "target": "all" }], "exclude": [{ "planName": "trial" }] },
            "strategy": {
                "type": "parallel", "schedule": "now", "ScheduleTime": "0001-01-01T00:00:00Z",
                "maintenanceWindow": true, "parallel": { "workers": 3 }
            },
            "dryRun": true, "kyma": { "version": "2.11.0" }, "retryoperation": {}
        });

        let read: Parameters = serde_json::from_value(sent.clone()).unwrap();

        assert_eq!(read.strategy.schedule_time, no_time());
        assert_eq!(serde_json::to_value(read).unwrap(), sent);
    }

    #[test]
    fn what_is_left_out_has_a_default_and_what_is_unknown_is_left_out() {
        let sent =
            json!({ "targets": { "include": null }, "strategy": { "parallel": null }, "x": 1 });

        let read: Parameters = serde_json::from_value(sent).unwrap();

        assert!(read.targets.include.is_empty() && read.kyma.is_none());
        assert_eq!(read.strategy.parallel.workers, 0);
    }

    #[test]
    fn words_are_told_as_clients_know_them() {
        assert_eq!(serde_json::to_value(Kind::UpgradeKyma).unwrap(), Value::from("upgradeKyma"));
        assert_eq!("in progress".parse(), Ok(State::InProgress));
        assert_eq!(Kind::UpgradeCluster.as_str(), "upgradeCluster");
    }
}
