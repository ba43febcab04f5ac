//! One operation of the original, as history. What had not ended counts as failed.

use base::Failure;
use engine::{Operation, State};
use jiff::Timestamp;
use store::{
    engine::ImportedOperation,
    import::{ProvisionerCluster, ProvisionerOperation},
};

use crate::{
    document::Document,
    operations::{
        Input, Target, Versions,
        deprovisioning::{Deprovisioning, DeprovisioningNoInstall},
        hibernation::Hibernation,
        provisioning::{Provisioning, ProvisioningNoInstall},
        reconnection::Reconnection,
        upgrade::Upgrade,
        upgrade_shoot::UpgradeShoot,
    },
    status::OperationType,
};

/// How far the original came with an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It ended.
    Ended(State),
    /// It had begun.
    Interrupted,
}

/// How far the original came.
pub(super) fn progress(operation: &ProvisionerOperation) -> Progress {
    match operation.state.as_str() {
        "SUCCEEDED" => Progress::Ended(State::Succeeded),
        "FAILED" => Progress::Ended(State::Failed),
        _ => Progress::Interrupted,
    }
}

/// The operation as it is stored; none for one that cannot be.
pub(super) fn history(
    operation: &ProvisionerOperation,
    target: &Target,
    document: &Document,
) -> Option<ImportedOperation> {
    let id = operation.id.parse().ok()?;
    let (kind, known_as) = kind(&operation.kind)?;
    let (state, message) = match progress(operation) {
        Progress::Ended(state) => (state, operation.message.clone()),
        Progress::Interrupted => {
            let said = &operation.message;
            (
                State::Failed,
                format!("was in progress in the original when it was imported ({said})"),
            )
        }
    };
    let failure = (state == State::Failed).then(|| {
        let or = |text: &str, other: &str| {
            if text.is_empty() { other.to_owned() } else { text.to_owned() }
        };
        Failure::new(
            or(&operation.component, "import"),
            or(&operation.reason, "unfinished"),
            or(&operation.err_message, &message),
        )
    });
    let kyma = matches!(
        known_as,
        OperationType::Provision | OperationType::Upgrade | OperationType::Deprovision
    );
    let input = Input {
        target: target.clone(),
        document: document.clone(),
        known_as,
        kyma,
        shoot: true,
        first_message: message.clone(),
        requested: Versions::default(),
        digest: None,
    };
    let created_at = operation.start_timestamp.unwrap_or_default();
    Some(ImportedOperation {
        id,
        instance: target.runtime.to_string(),
        kind: kind.to_owned(),
        data_version: Provisioning::VERSION,
        lane: target.tenant.clone(),
        state,
        closed: Vec::new(),
        incomplete: Vec::new(),
        failure,
        input: serde_json::to_vec(&input).ok()?,
        data: b"{}".to_vec(),
        created_at,
        started_at: Some(created_at),
        ended_at: operation.end_timestamp.unwrap_or(created_at),
        note: format!(
            "imported from the original provisioner, where it was {} in stage {}: {message}",
            operation.state, operation.stage
        ),
    })
}

/// Under which name an operation is stored, and what callers know it as.
fn kind(word: &str) -> Option<(&'static str, OperationType)> {
    Some(match word {
        "PROVISION" => (Provisioning::KIND, OperationType::Provision),
        "PROVISION_NO_INSTALL" => (ProvisioningNoInstall::KIND, OperationType::ProvisionNoInstall),
        "DEPROVISION" => (Deprovisioning::KIND, OperationType::Deprovision),
        "DEPROVISION_NO_INSTALL" => {
            (DeprovisioningNoInstall::KIND, OperationType::DeprovisionNoInstall)
        }
        "UPGRADE" => (Upgrade::KIND, OperationType::Upgrade),
        "UPGRADE_SHOOT" => (UpgradeShoot::KIND, OperationType::UpgradeShoot),
        "HIBERNATE" => (Hibernation::KIND, OperationType::Hibernate),
        "RECONNECT_RUNTIME" => (Reconnection::KIND, OperationType::ReconnectRuntime),
        _ => return None,
    })
}

/// When the cluster was there for the first time; none for one that never was.
pub(super) fn provisioned_at(row: &ProvisionerCluster) -> Option<Timestamp> {
    let made = row.operations.iter().find(|operation| {
        operation.kind.starts_with("PROVISION") && operation.state == "SUCCEEDED"
    });
    let made = made.map(|made| made.end_timestamp.or(made.start_timestamp).unwrap_or_default());
    made.or(row.created_at.filter(|_| row.has_kubeconfig))
}

/// When it was gone.
pub(super) fn deleted_at(row: &ProvisionerCluster) -> Timestamp {
    let last = row.operations.last();
    let ended = last.and_then(|last| last.end_timestamp.or(last.start_timestamp));
    ended.or(row.created_at).unwrap_or_default()
}
