//! The state of a runtime and its operations, as operators see them.

use engine::{State, storage::Snapshot};
use serde::Deserialize;
use store::broker::Standing;
use uuid::Uuid;

use super::{Detail, Group, OperationItem, Status};
use crate::{
    details::RuntimeVersion,
    import::Imported,
    instances::pairs::{DEPROVISION, PROVISION, UPDATE, UPGRADE_CLUSTER, UPGRADE_KYMA},
};

/// How many updates and upgrades are told.
const NEWEST: usize = 2;

/// What is told of an operation's input.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Input {
    temporary: bool,
    orchestration: Option<Uuid>,
}

/// What is told of an operation's data: a removal has it one level deeper.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Data {
    runtime_id: Option<Uuid>,
    runtime_version: Option<RuntimeVersion>,
    details: Option<Box<Data>>,
}

/// What sort an operation is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Provisioning,
    Deprovisioning,
    Suspension,
    Unsuspension,
    Update,
    UpgradeKyma,
    UpgradeCluster,
}

/// The operations whose input and data are worth reading: orders and removals, and the newest of the others.
pub(super) fn read_closer(own: &[Snapshot]) -> Vec<Uuid> {
    let others = [UPDATE, UPGRADE_KYMA, UPGRADE_CLUSTER].into_iter();
    let newest =
        others.flat_map(|kind| own.iter().rev().filter(move |it| it.kind == kind).take(NEWEST));
    let all = own.iter().filter(|it| [PROVISION, DEPROVISION].contains(&it.kind.as_str()));
    all.chain(newest).map(|operation| operation.id).collect()
}

/// The version of Kyma that the newest order or upgrade was about.
pub(super) fn kyma_version(own: &[Snapshot]) -> Option<String> {
    let mut newest =
        own.iter().rev().filter(|it| [PROVISION, UPGRADE_KYMA].contains(&it.kind.as_str()));
    newest.find_map(version)
}

/// The last cluster that operations worked on, of an instance whose row is gone.
pub(super) fn last_runtime(own: &[Snapshot]) -> Option<Uuid> {
    own.iter().rev().find_map(|operation| {
        let data = data(operation);
        data.runtime_id.or(data.details.and_then(|details| details.runtime_id))
    })
}

/// The word for a runtime whose row is there: one that was removed has left something over.
pub(super) fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Deprovisioned => "deprovisionincomplete",
        other => other.as_str(),
    }
}

/// Puts the operations where they belong.
pub(super) fn fill(
    status: &mut Status,
    own: &[Snapshot],
    detail: Detail,
    item: impl Fn(&Snapshot) -> OperationItem,
) {
    let begun = own.iter().rposition(|it| it.state != State::Pending);
    if let Some(newest) = begun {
        status.modified_at = own[newest].updated_at;
    }
    let sorts: Vec<Option<Sort>> = sorts(own);
    let last = begun.or(own.len().checked_sub(1)).and_then(|at| sorts[at]);
    for (operation, sort) in own.iter().zip(&sorts).rev() {
        let Some(sort) = *sort else { continue };
        if detail == Detail::All || last == Some(sort) {
            add(status, sort, || item(operation));
        }
    }
}

/// What sort each operation is of; none for what is not told here.
fn sorts(own: &[Snapshot]) -> Vec<Option<Sort>> {
    let mut order = None;
    let sort = |operation: &Snapshot| match operation.kind.as_str() {
        // The order itself, and what operators did to continue it.
        PROVISION if *order.get_or_insert(operation.root) == operation.root => {
            Some(Sort::Provisioning)
        }
        PROVISION => Some(Sort::Unsuspension),
        DEPROVISION if input(operation).temporary => Some(Sort::Suspension),
        DEPROVISION => Some(Sort::Deprovisioning),
        UPDATE => Some(Sort::Update),
        UPGRADE_KYMA => Some(Sort::UpgradeKyma),
        UPGRADE_CLUSTER => Some(Sort::UpgradeCluster),
        _ => None,
    };
    own.iter().map(sort).collect()
}

/// Adds an operation that is older than those added before.
fn add(status: &mut Status, sort: Sort, item: impl FnOnce() -> OperationItem) {
    let (group, most) = match sort {
        Sort::Provisioning => {
            status.provisioning.get_or_insert_with(item);
            return;
        }
        Sort::Deprovisioning => {
            status.deprovisioning.get_or_insert_with(item);
            return;
        }
        Sort::Suspension => (&mut status.suspension, usize::MAX),
        Sort::Unsuspension => (&mut status.unsuspension, usize::MAX),
        Sort::Update => (&mut status.update, NEWEST),
        Sort::UpgradeKyma => (&mut status.upgrading_kyma, NEWEST),
        Sort::UpgradeCluster => (&mut status.upgrading_cluster, NEWEST),
    };
    push(group, most, item);
}

fn push(group: &mut Group, most: usize, item: impl FnOnce() -> OperationItem) {
    group.total_count += 1;
    if group.data.len() < most {
        group.data.push(item());
        group.count += 1;
    }
}

/// One operation, with what is said about it.
pub(super) fn item(operation: &Snapshot, description: String) -> OperationItem {
    OperationItem {
        state: operation.state.as_str(),
        description,
        created_at: operation.created_at,
        updated_at: operation.updated_at,
        operation_id: operation.id.into(),
        orchestration_id: input(operation)
            .orchestration
            .or_else(|| Imported::of(operation).and_then(|imported| imported.orchestration_id)),
        finished_stages: operation.closed.clone(),
        executed_but_not_completed_steps: operation
            .incomplete
            .iter()
            .filter_map(|at| unfinished(at))
            .collect(),
        runtime_version: version(operation).unwrap_or_default(),
    }
}

/// The name of a step that was executed and not completed. That the row is kept is no work of its own: it follows from the others.
fn unfinished(at: &str) -> Option<String> {
    let step = at.rsplit('/').next().unwrap_or(at);
    (step != "Remove_Instance").then(|| step.to_owned())
}

/// What cannot be read is not told: one operation must not hide a page of runtimes.
fn input(operation: &Snapshot) -> Input {
    serde_json::from_slice(&operation.input).unwrap_or_default()
}

fn data(operation: &Snapshot) -> Data {
    serde_json::from_slice(&operation.data).unwrap_or_default()
}

fn version(operation: &Snapshot) -> Option<String> {
    let data = data(operation);
    let version = data.runtime_version.or(data.details.and_then(|details| details.runtime_version));
    version.map(|version| version.version)
}
