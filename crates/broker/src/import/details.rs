//! Details of an instance from the original's steps.

use engine::State;
use serde_json::Value;
use store::import::KebOperation;
use uuid::Uuid;

use super::operation::{Progress, is_dry_run, progress};
use crate::{
    Details,
    details::{Avs, RuntimeVersion},
    instances::pairs::UPGRADE_KYMA,
};

/// The details in one operation's data.
pub(super) fn of(data: &Value) -> Details {
    let text = |name: &str| words(&data[name]);
    let evaluation = |name: &str| data["avs"][name].as_i64().filter(|id| *id != 0);
    let gone = |name: &str| data["avs"][name].as_bool().unwrap_or_default();
    Details {
        runtime_id: text("runtime_id").and_then(|id| id.parse().ok()),
        runtime_version: version(&data["runtime_version"]),
        cluster_name: text("clusterName"),
        dashboard_url: text("dashboardURL"),
        avs: Avs {
            internal_id: evaluation("avs_evaluation_internal_id"),
            internal_deleted: gone("avs_internal_evaluation_deleted"),
            external_id: evaluation("avs_evaluation_external_id"),
            external_deleted: gone("avs_external_evaluation_deleted"),
        },
        edp_created: data["edp_created"].as_bool().unwrap_or_default(),
        sm_cluster_id: text("sm_cluster_id"),
        kyma_namespace: text("kyma_resource_namespace"),
        kyma_name: text("kyma_resource_name"),
        kyma_template: text("KymaTemplate"),
        cluster_configuration_version: data["cluster_configuration_version"]
            .as_i64()
            .filter(|version| *version != 0),
        cluster_configuration_deleted: data["clusterConfigurationDeleted"]
            .as_bool()
            .unwrap_or_default(),
        event_hubs_deleted: data["eh"]["event_hub_deleted"].as_bool().unwrap_or_default(),
        ..Details::default()
    }
}

/// The current details: those of the newest operation that has begun, completed from older ones.
pub(super) fn newest(operations: &[KebOperation], runtime: Option<Uuid>) -> Details {
    let begun = |it: &&KebOperation| it.state != "pending";
    let mut known = operations.iter().rev().filter(begun).map(known);
    let mut details = known.next().unwrap_or_default();
    for older in known {
        details.kyma_template = details.kyma_template.or(older.kyma_template);
        details.sm_cluster_id = details.sm_cluster_id.or(older.sm_cluster_id);
        details.runtime_version = details.runtime_version.or(older.runtime_version);
    }
    details.dashboard_url = None;
    match runtime {
        Some(runtime) => Details { runtime_id: Some(runtime), ..details },
        None => details.without_cluster(),
    }
}

/// The details in an operation's data. The version that an upgrade was about is not the runtime's when it only tried things out or was
/// canceled.
fn known(operation: &KebOperation) -> Details {
    let details = of(&operation.data);
    let in_vain = is_dry_run(operation)
        || (operation.kind == UPGRADE_KYMA
            && progress(operation) == Progress::Ended(State::Canceled));
    let runtime_version = details.runtime_version.filter(|_| !in_vain);
    Details { runtime_version, ..details }
}

fn version(value: &Value) -> Option<RuntimeVersion> {
    let version = words(&value["version"])?;
    let first = version.split('.').next().and_then(|number| number.parse().ok());
    let given = value["major_version"].as_u64().filter(|major| *major > 0);
    let major = given.and_then(|major| u32::try_from(major).ok()).or(first).unwrap_or_default();
    let origin = words(&value["origin"]).unwrap_or_else(|| "defaults".to_owned());
    Some(RuntimeVersion { version, origin, major })
}

/// A text that says something.
pub(super) fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
