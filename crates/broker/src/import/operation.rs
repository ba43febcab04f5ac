//! One operation of the original, as history.
//!
//! What a reader would get wrong: nothing that the original began goes on by itself. What had not ended counts as failed, and the
//! report says how to bring it to its end. A removal can be continued, so it is stored as if no stage had been closed: each of its
//! steps looks first what is left.

use base::Failure;
use domain::parameters::Update;
use engine::{Operation, State};
use serde_json::{Value, json};
use store::{
    engine::ImportedOperation,
    import::{Finding, KebOperation},
};
use uuid::Uuid;

use super::{ImportNote, details, details::words, subject};
use crate::{
    ContextChange, Order,
    instances::pairs::{DEPROVISION, PROVISION, UPDATE, UPGRADE_CLUSTER, UPGRADE_KYMA},
    operations::{deprovisioning::what_is_left, provisioning::Provisioning},
};

/// The kinds of operations that are known here.
const KINDS: [&str; 5] = [PROVISION, DEPROVISION, UPDATE, UPGRADE_KYMA, UPGRADE_CLUSTER];
const UPGRADES: [&str; 2] = [UPGRADE_KYMA, UPGRADE_CLUSTER];

/// How the text begins of an operation that had not ended.
pub(crate) const INTERRUPTED: &str = "was in progress in the original when it was imported";

/// How far the original came with an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It ended.
    Ended(State),
    /// It had begun.
    Interrupted,
    /// It had not begun, and has changed nothing.
    NeverBegun,
}

/// How far the original came.
pub(super) fn progress(operation: &KebOperation) -> Progress {
    progress_of(&operation.kind, &operation.state)
}

/// How far the original came with an operation of this kind that is in this state.
pub(super) fn progress_of(kind: &str, state: &str) -> Progress {
    match state {
        "succeeded" => Progress::Ended(State::Succeeded),
        "failed" => Progress::Ended(State::Failed),
        "canceled" => Progress::Ended(State::Canceled),
        "pending" if ![PROVISION, DEPROVISION].contains(&kind) => Progress::NeverBegun,
        _ => Progress::Interrupted,
    }
}

/// The surroundings of a stored operation.
pub(super) struct Setting<'a> {
    /// The order, with credentials only for what may be continued.
    pub(super) order: &'a Order,
    /// Whether the instance's row is still there.
    pub(super) has_row: bool,
    /// Whether it makes a cluster after a suspension.
    pub(super) returning: bool,
}

/// The operation as it is stored, or why it cannot be.
pub(super) fn history(
    operation: &KebOperation,
    setting: &Setting<'_>,
) -> Result<ImportedOperation, Finding> {
    let refused = |problem: String| {
        let whose = subject(&operation.instance_id);
        let action = "keep a copy of the original's database for as long as it is needed";
        Finding::new(format!("operation {} of {whose}", operation.id), problem, action)
    };
    let id: Uuid = operation.id.parse().map_err(|_| refused("its id is not a UUID".to_owned()))?;
    if !KINDS.contains(&operation.kind.as_str()) {
        return Err(refused(format!("its type \"{}\" is not known", operation.kind)));
    }
    let (state, description) = ending(operation);
    let temporary = operation.data["temporary"].as_bool().unwrap_or_default();
    let incomplete = incomplete(operation);
    let removal = operation.kind == DEPROVISION && !temporary && setting.has_row;
    let continued = removal || (operation.kind == DEPROVISION && state != State::Succeeded);
    let closed = operation.finished_stages.split(',').filter(|stage| !stage.is_empty());
    let failure = (state == State::Failed).then(|| failure(operation, &description));
    let imported = ImportNote {
        description: description.clone(),
        orchestration_id: operation.orchestration_id.parse().ok(),
    };
    let started = progress(operation) != Progress::NeverBegun;
    let created_at = operation.created_at.unwrap_or_default();
    Ok(ImportedOperation {
        id,
        instance: operation.instance_id.clone(),
        kind: operation.kind.clone(),
        data_version: Provisioning::VERSION,
        lane: setting.order.context.globalaccount_id.clone(),
        state,
        closed: if continued { Vec::new() } else { closed.map(str::to_owned).collect() },
        incomplete: incomplete.iter().map(|step| format!("{step}/{step}")).collect(),
        failure,
        input: input(operation, setting, temporary, &imported).to_string().into_bytes(),
        data: data(operation, removal, &incomplete).to_string().into_bytes(),
        created_at,
        started_at: started.then_some(created_at),
        ended_at: operation.updated_at.unwrap_or(created_at),
        note: format!(
            "imported from the original broker, where it was {}: {description}",
            operation.state
        ),
    })
}

/// Whether it is an upgrade that only tried things out.
pub(super) fn is_dry_run(operation: &KebOperation) -> bool {
    operation.data["runtime_operation"]["dryRun"].as_bool().unwrap_or_default()
        && UPGRADES.contains(&operation.kind.as_str())
}

/// How it ended, and its description.
fn ending(operation: &KebOperation) -> (State, String) {
    let said = &operation.description;
    match progress(operation) {
        Progress::Ended(state) => (state, said.clone()),
        Progress::Interrupted => (State::Failed, format!("{INTERRUPTED} ({said})")),
        Progress::NeverBegun => (State::Canceled, "had not begun when it was imported".to_owned()),
    }
}

/// The steps that were executed and not completed.
fn incomplete(operation: &KebOperation) -> Vec<String> {
    let steps = operation.data["excutedButNotCompleted"].as_array();
    let steps = steps.into_iter().flatten().filter_map(words);
    // Commas divide the list, and a slash a stage from its step.
    steps.filter(|step| !step.contains([',', '/'])).collect()
}

fn failure(operation: &KebOperation, description: &str) -> Failure {
    let last = &operation.data["last_error"];
    let part = |name: &str| words(&last[name]);
    Failure::new(
        part("component").unwrap_or_else(|| "import".to_owned()),
        part("reason").unwrap_or_else(|| operation.state.replace(' ', "_")),
        part("message").unwrap_or_else(|| description.to_owned()),
    )
}

fn input(
    operation: &KebOperation,
    setting: &Setting<'_>,
    temporary: bool,
    imported: &ImportNote,
) -> Value {
    let mut input = json!({
        "order": setting.order,
        "temporary": temporary && operation.kind == DEPROVISION,
        "returning": setting.returning,
        "dry_run": is_dry_run(operation),
        "user_agent": words(&operation.data["userAgent"]),
        "imported": imported,
    });
    if operation.kind == UPDATE {
        let said: Update = serde_json::from_value(operation.data["updating_parameters"].clone())
            .unwrap_or_default();
        input["parameters"] = json!(Update { kubeconfig: None, ..said });
        input["context"] = json!(ContextChange::default());
    }
    input
}

fn data(operation: &KebOperation, removal: bool, incomplete: &[String]) -> Value {
    let mut details = details::of(&operation.data);
    details.target_operation_id =
        Some(operation.target_operation_id.clone()).filter(|id| !id.is_empty());
    if operation.kind == PROVISION {
        return json!(details);
    }
    let mut left: Vec<&str> =
        incomplete.iter().map(String::as_str).filter(|step| what_is_left(step).is_some()).collect();
    if removal && left.is_empty() {
        // The row is there, so something is: the original does not say what.
        left.push("Remove_Runtime");
    }
    match operation.kind.as_str() {
        DEPROVISION => json!({"details": details, "left": left}),
        _ => json!({"details": details}),
    }
}
