//! Descriptions of failed operations: for customers a short text without internals, for operators the rest
//! as well, and to both the error id.
//!
//! What a reader would get wrong: the error id is the operation's id. The end of an operation is one failure, so nothing else has to
//! be kept, and `kcp operations <error id>`, the journal and the log all know it.

use base::Failure;
use engine::{State, storage::Snapshot};
use serde_json::Value;

use crate::import::INTERRUPTED;

/// The reader of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Platforms and their customers.
    Customer,
    /// Operators of the control plane.
    Operator,
}

const FAILED: &str = "the operation failed";
const TIME_LIMIT: &str = "operation has reached the time limit";
const RECONCILER_LIMIT: &str = "Reconciler has reached the time limit";
const LOOKUP: &str = "HAP lookup for secret binding to provision cluster";

/// The customer's text for each failed step. Where platforms know a text, it is that one.
const STEPS: &[(&str, &str)] = &[
    ("Starting", "the operation could not be started"),
    ("Provision_Initialization", "cannot create provisioning input creator"),
    ("Init_Kyma_Template", "cannot prepare the Kyma resource"),
    ("Resolve_Target_Secret", LOOKUP),
    ("AVS_Create_Internal_Eval_Step", "cannot create AVS evaluation"),
    ("AVS_Create_External_Eval_Step", "cannot create AVS evaluation"),
    ("AVS_Tags", "cannot set the tags of the AVS evaluation"),
    ("EDP_Registration", "cannot register the subaccount in EDP"),
    ("Overrides_From_Secrets_And_Config_Step", "cannot read the configuration of Kyma"),
    ("BTPOperatorOverrides", "invalid BTP Operator configuration"),
    ("BusolaMigratorOverrides", "cannot prepare the configuration of Kyma"),
    ("Create_Runtime_Without_Kyma", "call to the provisioner service failed"),
    ("Create_Runtime_For_Own_Cluster", "cannot take the cluster over"),
    ("Check_Runtime", "provisioner client returns failed status"),
    ("Get_Kubeconfig", "cannot get the kubeconfig of the runtime"),
    ("Inject_BTP_Operator_Credentials", "cannot store the BTP Operator credentials in the runtime"),
    ("Sync_Kubeconfig", "cannot hand the runtime to the Lifecycle Manager"),
    ("Create_Cluster_Configuration", "Request to Reconciler failed"),
    ("Check_Cluster_Configuration", "Reconciler failed with error cluster status"),
    ("Apply_Kyma", "cannot create the Kyma resource"),
    ("Upgrade_Kyma_Initialisation", "the upgrade could not be started"),
    ("Upgrade_Cluster_Initialisation", "the upgrade could not be started"),
    ("Send_Notification", "cannot announce the upgrade"),
    ("AVS_Maintenance", "cannot set the status of the AVS evaluation"),
    ("Apply_Cluster_Configuration", "Request to Reconciler failed"),
    ("Upgrade_Cluster", "call to the provisioner service failed"),
    ("Initialization", "provisioner client returns failed status"),
    ("AVS_Configuration_Step", "cannot create AVS evaluation"),
    ("Create_LMS_Tenant", "cannot create the LMS tenant"),
    ("IAS_Registration", "cannot register the runtime in IAS"),
    ("Provision Azure Event Hubs", "cannot create Azure Event Hubs"),
    ("ServiceManagerOverrides", "invalid Service Manager configuration"),
    ("Request_LMS_Certificates", "cannot get a certificate from LMS"),
    ("Create_Runtime", "call to the provisioner service failed"),
    ("Init_Step", "the removal could not be started"),
    ("Deprovision_Initialization", "the removal could not be started"),
    ("Update_Kyma_Initialization", "the change could not be started"),
    ("Upgrade_Shoot", "call to the provisioner service failed"),
    ("Update_Init_Kyma_Version", "cannot read the configuration of Kyma"),
    ("Apply_Reconciler_Configuration", "Request to Reconciler failed"),
    ("CheckReconcilerState", "Reconciler failed with error cluster status"),
    ("Update_Kyma_Resource", "cannot change the Kyma resource"),
    ("Save_Parameters", "cannot store the change"),
];

/// Failures whose texts are written for customers: component and reason.
const OUTWARD: [(&str, &str); 7] = [
    ("broker", "foreign_account"),
    ("broker", "instance_gone"),
    ("broker", "invalid_parameters"),
    ("broker", "not_provisioned"),
    ("broker", "suspended"),
    ("broker", "unknown_plan"),
    ("runtime", "own_cluster_unusable"),
];

/// How an operation ended that failed or was called off.
pub(super) fn failure_text(operation: &Snapshot, limit: Option<&str>, reader: Reader) -> String {
    if let Some(cancel) = &operation.cancel {
        return called_off(&cancel.reason).to_owned();
    }
    let Some(failure) = &operation.failure else {
        let word =
            if operation.state == State::Canceled { "Operation was canceled" } else { "failed" };
        return operation.note.clone().unwrap_or_else(|| word.to_owned());
    };
    let id = operation.id;
    let short = short(operation, failure, limit);
    if reader == Reader::Customer || short == failure.message {
        return format!("{short} (error id {id})");
    }
    let Failure { component, reason, message } = failure;
    format!("{short}: {message} ({component}: {reason}; error id {id})")
}

/// How an operation of the original ended, which operators read as the original wrote it. Behind a text that platforms know, and
/// instead of one, it may have written what inner systems said: that is not for those who order.
pub(super) fn imported(operation: &Snapshot, said: String, reader: Reader) -> String {
    match (reader, operation.state) {
        (Reader::Customer, State::Failed) => {
            format!("{} (error id {})", recognised(operation, &said), operation.id)
        }
        (Reader::Customer, State::Canceled) => "Operation was canceled".to_owned(),
        _ => said,
    }
}

/// The text that the original's begins with, if platforms know it.
fn recognised(operation: &Snapshot, said: &str) -> String {
    if said.starts_with(INTERRUPTED) {
        return "the operation was interrupted".to_owned();
    }
    let known = STEPS.iter().map(|(_, text)| *text).chain([TIME_LIMIT, RECONCILER_LIMIT]);
    match known.filter(|text| said.starts_with(text)).max_by_key(|text| text.len()) {
        Some(LOOKUP) => lookup(operation, LOOKUP),
        Some(text) => text.to_owned(),
        None => FAILED.to_owned(),
    }
}

fn short(operation: &Snapshot, failure: &Failure, limit: Option<&str>) -> String {
    let (component, reason) = (failure.component.as_str(), failure.reason.as_str());
    if OUTWARD.contains(&(component, reason)) {
        return failure.message.clone();
    }
    let step = operation.step.as_deref().unwrap_or_default();
    let text = STEPS.iter().find(|(name, _)| *name == step).map(|(_, text)| *text);
    match (component, reason, step) {
        ("engine", "time_limit", _) => {
            let limit = limit.map(|limit| format!(": {limit}")).unwrap_or_default();
            format!("{TIME_LIMIT}{limit}")
        }
        ("engine", "waiting_limit", _) => {
            format!("{} has reached the time limit", step.replace('_', " "))
        }
        // Its limit is counted by the step itself, because it tells the Reconciler that it gives up.
        ("reconciler", "timeout", _) => RECONCILER_LIMIT.to_owned(),
        (.., "Resolve_Target_Secret") => lookup(operation, text.unwrap_or_default()),
        _ => text.unwrap_or(FAILED).to_owned(),
    }
}

fn lookup(operation: &Snapshot, text: &str) -> String {
    let input: Value = serde_json::from_slice(&operation.input).unwrap_or_default();
    let provider = input.pointer("/order/resolved/cluster/provider").and_then(Value::as_str);
    let provider = provider.map(|word| format!(" on Hyperscaler {word}")).unwrap_or_default();
    format!("{text} for global account ID {}{provider} has failed", operation.lane)
}

/// Why an operation was called off, without the name of the operator who did it.
fn called_off(reason: &str) -> &str {
    if reason.starts_with("called off by ") { "called off by an operator" } else { reason }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::operations::{
        ProvisioningLimits, Systems, deprovisioning, provisioning, update, upgrade_cluster,
        upgrade_kyma,
    };

    #[test]
    fn every_step_that_can_fail_an_operation_has_a_text_for_those_who_order() {
        let limits = ProvisioningLimits { edp_required: true, ..ProvisioningLimits::default() };
        let removal = deprovisioning::DeprovisioningLimits::default();
        let change = update::UpdateLimits::default();
        let (kyma, cluster) = (
            upgrade_kyma::UpgradeKymaLimits::default(),
            upgrade_cluster::UpgradeClusterLimits::default(),
        );
        let shapes = [
            provisioning::plan(&limits, Systems::ALL).check().unwrap().shape,
            provisioning::legacy::plan(&limits, Systems::ALL).check().unwrap().shape,
            deprovisioning::plan(&removal, Systems::ALL).check().unwrap().shape,
            deprovisioning::legacy::plan(&removal, Systems::ALL).check().unwrap().shape,
            update::plan(&change, Systems::ALL).check().unwrap().shape,
            upgrade_kyma::plan(&kyma, Systems::ALL).check().unwrap().shape,
            upgrade_cluster::plan(&cluster, Systems::ALL).check().unwrap().shape,
        ];
        let all = || shapes.iter().flat_map(|shape| &shape.stages).flat_map(|stage| &stage.steps);
        let fails = all().filter(|step| step.retry.at_limit == engine::AtLimit::Fail);
        let fails: BTreeSet<&str> = fails.map(|step| step.name.as_str()).collect();
        let steps: BTreeSet<&str> = all().map(|step| step.name.as_str()).collect();
        let told: BTreeSet<&str> = STEPS.iter().map(|(name, _)| *name).collect();

        assert_eq!(fails.difference(&told).collect::<Vec<_>>(), Vec::<&&str>::new());
        assert_eq!(told.difference(&steps).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn who_calls_off_is_not_told() {
        assert_eq!(called_off("called off by jo@example.test"), "called off by an operator");
        let preempted = "operation preempted by deprovisioning 1";
        assert_eq!(called_off(preempted), preempted);
    }
}
